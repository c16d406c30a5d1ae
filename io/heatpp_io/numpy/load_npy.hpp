#pragma once

#include <heatpp_io/hdf5/load_hdf5.hpp>

namespace heatpp::io {

/// Loads the array of a file in NPY format, as numpy.save writes it, or joins the arrays of many files along axis 0, in
/// the given order, or in natural order for a glob pattern or a directory, which means all its .npy files.
///
/// Reads format versions 1 to 3, C and Fortran order, and both byte orders. Stored uint16, uint32 and uint64 become the
/// next wider signed integers; "V2" is bfloat16, as numpy.save writes that of the package ml_dtypes. Bytes after the
/// array are ignored.
/// Each rank reads only its own part, without a temporary copy; if these parts are short runs all over the file, ranks
/// read whole rows and exchange them. Split none: each rank reads a share, then an all-gather. Collective. Throws on
/// all ranks: IoError for files that are missing, shorter than their header says, of another format, or without
/// numbers; ValueError for shards that do not fit together, for bad slices and for uint64 numbers that int64 cannot
/// hold; IndexError for a bad split.
[[nodiscard]] DNDarray load_npy(const Source& source, const LoadOptions& options = {});

}  // namespace heatpp::io
