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
  std::optional<Dtype> dtype = std::nullopt;        ///< dtype of the rows; nullopt: as stored
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
  bool decode = true;                               ///< as LoadOptions::decode
};

/// An array in one HDF5 file or several, joined along axis 0 as by load_hdf5, that stays in its files. Every rank reads
/// the rows that it asks for, independently, without MPI-IO. A handle: copies share the open files.
class StoredRows {
 public:
  /// Inspects all files. Collective. Throws as load_hdf5, and ValueError for an array without axes.
  StoredRows(const Source& source, const std::string& dataset, const StoredRowsOptions& options = {});

  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] Dtype dtype() const;
  [[nodiscard]] const Communicator& comm() const;

  /// Returns the rows with these numbers, which must increase. Rows that are close to each other in a file, or in the
  /// same chunk, are read in one call with what is between them, up to 4 MiB or one row of chunks; others need a call
  /// each. Local. Several threads may call it; they take turns. Throws IndexError for numbers out of range or order,
  /// IoError for files that have changed or are truncated.
  [[nodiscard]] at::Tensor read(std::span<const std::int64_t> rows) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// Returns the mutex that the library holds while it uses HDF5, which does not support several threads. If a host calls
/// HDF5 or netCDF itself while a DataLoader reads ahead, it must hold the mutex during its calls. Local.
[[nodiscard]] std::recursive_mutex& hdf5_mutex();

}  // namespace heatpp::io
