#pragma once

#include <heatpp_io/hdf5/load_hdf5.hpp>

namespace heatpp::io {

/// The array of one file in NPY format, as numpy.save writes it, or the arrays of many put together along axis 0 in the
/// order given (those of a glob pattern or a directory, which means all its .npy files, in natural order).
///
/// Format versions 1 to 3, C and Fortran order, either byte order. Stored uint16, uint32 and uint64 become the next
/// wider signed integers; "V2" is bfloat16, as numpy.save writes that of the package ml_dtypes. Bytes behind the array
/// are ignored.
/// Each rank reads its own part only, without a temporary copy of it; where these parts are short runs all over the
/// file, ranks read whole rows and exchange them. Split none: each rank reads a share, which is all-gathered.
/// Collective. Throws on all ranks: IoError for files that are missing, shorter than their header says, of another
/// format, or hold no numbers; ValueError for shards that do not fit together, for bad slices and for uint64 that int64
/// cannot hold; IndexError for a bad split.
[[nodiscard]] DNDarray load_npy(const Source& source, const LoadOptions& options = {});

}  // namespace heatpp::io
