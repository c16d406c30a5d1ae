#pragma once

#include <heatpp_io/csv/load_csv.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/stream/contents.hpp>
#include <memory>

namespace heatpp::io {

/// Options of StoredArray.
struct StoredArrayOptions {
  std::string dataset = {};                         ///< which array of a file; empty: the only one
  std::optional<Dtype> dtype = std::nullopt;        ///< of what is read; nullopt: as stored, of CSV float64
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
  LoadCsvOptions csv = {};                          ///< how CSV is read, but for what is said above
  bool decode = true;                               ///< as LoadOptions::decode
};

/// An array in files of any format that load knows, put together along axis 0, which is read in pieces: of files that
/// fit no memory. A handle: copies share the open files.
///
/// Of compressed NPZ every rank inflates what is before its rows, once if pieces are read in order. CSV has no places
/// to begin at: all of it is parsed and kept by the ranks together.
class StoredArray {
 public:
  /// Looks into all files. Collective. Throws on all ranks as load does.
  explicit StoredArray(const Source& source, const StoredArrayOptions& options = {});

  [[nodiscard]] const StoredInfo& info() const;
  [[nodiscard]] const Shape& shape() const { return info().shape; }
  [[nodiscard]] Dtype dtype() const { return *info().dtype; }
  [[nodiscard]] const Communicator& comm() const;
  /// How many files it is in.
  [[nodiscard]] std::int64_t files() const;
  /// The array as it lies in the files, to be written to another one of a format that has attributes: the numbers as
  /// they are stored, and all attributes that say what they mean. Unsigned numbers without a dtype of ours that
  /// attributes say something of are signed ones with the same bits and `_Unsigned`. The array itself where nothing is
  /// said of its numbers, where a dtype was asked for, where files say different things, and where uint64 is decoded.
  /// Collective: looks into all files. Throws as the constructor does.
  [[nodiscard]] StoredArray stored() const;
  /// Whether it lies in the files until it is read, as all but CSV does.
  [[nodiscard]] bool streams() const;

  /// How many rows have about so many bytes: whole chunks, and at least one row.
  [[nodiscard]] std::int64_t rows_of_bytes(std::int64_t bytes) const;
  /// The rows first .. first + count, split along axis 0, of which each rank reads its own: whole chunks where these
  /// are enough. Collective. Throws on all ranks: IndexError for rows that are not there, ValueError for an array
  /// without axes, IoError.
  [[nodiscard]] DNDarray rows(std::int64_t first, std::int64_t count) const;
  /// All of it, split along axis 0 if it has one. Collective. Throws IoError, MemoryError on all ranks.
  [[nodiscard]] DNDarray all() const;

 private:
  struct Impl;
  explicit StoredArray(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace heatpp::io
