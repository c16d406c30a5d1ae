#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>

namespace heatpp::io {

/// Options of save_npy.
struct SaveNpyOptions {
  bool shards = false;  ///< one file per rank, named as save_hdf5 names them
};

/// Writes `x` in NPY format, version 1, C order, which numpy.load reads; bfloat16 as that of the package ml_dtypes. The
/// file appears under its name when it is complete, in one step; after an error an older one is as it was. Any layout;
/// a replicated array is written once. Collective: every rank writes whole rows of its own, after an exchange in small
/// windows if `x` is split along another axis than the first. Throws IoError on all ranks for a directory that is
/// missing and a full disk.
void save_npy(const DNDarray& x, const std::filesystem::path& path, const SaveNpyOptions& options = {});

}  // namespace heatpp::io
