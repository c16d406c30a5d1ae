#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>

namespace heatpp::io {

/// Options of save_npy.
struct SaveNpyOptions {
  bool shards = false;  ///< one file per rank, named as save_hdf5 names them
  bool uint64 = false;  ///< store int64 elements as the uint64 numbers with the same bits
};

/// Writes `x` in NPY format, version 1, C order, which numpy.load reads; bfloat16 is that of the package ml_dtypes.
/// The complete file replaces an older one in one step; after an error the older one is unchanged. Any layout; a
/// replicated array is written once. Collective: every rank writes whole rows, after an exchange in small windows if
/// `x` is split along another axis than the first. Throws IoError on all ranks for a missing directory and a full
/// disk.
void save_npy(const DNDarray& x, const std::filesystem::path& path, const SaveNpyOptions& options = {});

}  // namespace heatpp::io
