#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/compression.hpp>

namespace heatpp::sparse {

/// How a file becomes a matrix.
struct LoadOptions {
  std::string group = {};                           ///< of HDF5 and Zarr; empty: the only one with a sparse matrix
  std::optional<int> split = 0;                     ///< cut evenly by rows, or nullopt: whole on every rank
  std::optional<Dtype> dtype = std::nullopt;        ///< nullopt: as stored; else converted as `astype` does
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// How a matrix becomes a file. A format throws ValueError for what it has not.
struct SaveOptions {
  std::string group = {};                                     ///< of HDF5 files; empty: "X", as in AnnData's
  bool append = false;                                        ///< HDF5: keep what the file holds, and add the group
  std::optional<io::Compression> compression = std::nullopt;  ///< .npz: a deflate level; HDF5: also "zstd", ...
};

}  // namespace heatpp::sparse
