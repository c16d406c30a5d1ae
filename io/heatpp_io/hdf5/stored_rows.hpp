#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/core/shape.hpp>
#include <heatpp_io/source.hpp>
#include <memory>
#include <mutex>
#include <span>

namespace at {
class Tensor;
}

namespace heatpp::io {

/// Options of StoredRows.
struct StoredRowsOptions {
  std::optional<Dtype> dtype = std::nullopt;        ///< of what is read; nullopt: as stored
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
  bool decode = true;                               ///< as LoadOptions::decode
};

/// An array in one HDF5 file or many, put together along axis 0 as load_hdf5 does, that stays where it is: every rank
/// reads the rows that it asks for, on its own, without MPI-IO. A handle: copies share the open files.
class StoredRows {
 public:
  /// Looks into all files. Collective. Errors as load_hdf5, and ValueError for an array without axes.
  StoredRows(const Source& source, const std::string& dataset, const StoredRowsOptions& options = {});

  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] Dtype dtype() const;
  [[nodiscard]] const Communicator& comm() const;

  /// The rows with these numbers, which rise. Rows that are close to each other in a file, or in the same chunk, are
  /// read in one call with what is between them, up to 4 MiB or one row of chunks; others cost a call each. Local, and
  /// may be called by several threads, which take turns. Throws IndexError for numbers out of range or order, IoError
  /// for files that have changed or are truncated.
  [[nodiscard]] at::Tensor read(std::span<const std::int64_t> rows) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// Held by the library while it uses HDF5, which is not made for several threads. A host code that calls HDF5 (or
/// netCDF) itself while a DataLoader reads ahead holds it during its calls. Local.
[[nodiscard]] std::recursive_mutex& hdf5_mutex();

}  // namespace heatpp::io
