#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/compression.hpp>

namespace heatpp::sparse {

/// How a file is loaded as a matrix.
struct LoadOptions {
  std::string group = {};                           ///< HDF5 and Zarr; empty: the only one with a sparse matrix
  std::optional<int> split = 0;                     ///< cut evenly by rows, or nullopt: whole on every rank
  std::optional<Dtype> dtype = std::nullopt;        ///< nullopt: as stored; else converted as `astype`
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
};

/// How a matrix is saved. A format throws ValueError for options that it does not have.
struct SaveOptions {
  std::string group = {};                                     ///< HDF5 files; empty: "X", as in AnnData
  bool append = false;                                        ///< HDF5: keep the content of the file, and add the group
  std::optional<io::Compression> compression = std::nullopt;  ///< .npz: a deflate level; HDF5: also "zstd", ...
};

}  // namespace heatpp::sparse
