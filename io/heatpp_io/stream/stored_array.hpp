#pragma once

#include <heatpp_io/csv/load_csv.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/stream/contents.hpp>
#include <memory>

namespace heatpp::io {

/// Options of StoredArray.
struct StoredArrayOptions {
  std::string dataset = {};                         ///< which array of a file; empty: the only one
  std::optional<Dtype> dtype = std::nullopt;        ///< dtype of the rows; nullopt: as stored, for CSV float64
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm()
  LoadCsvOptions csv = {};                          ///< how CSV is read, except for the options above
  bool decode = true;                               ///< as LoadOptions::decode
};

/// An array in files of any format that load knows, joined along axis 0, which is read in pieces: for files that do not
/// fit in memory. A handle: copies share the open files.
///
/// In compressed NPZ, every rank inflates what is before its rows, once if pieces are read in order. CSV cannot be read
/// from the middle: the ranks together parse and keep all of it.
class StoredArray {
 public:
  /// Inspects all files. Collective. Throws on all ranks as load.
  explicit StoredArray(const Source& source, const StoredArrayOptions& options = {});

  [[nodiscard]] const StoredInfo& info() const;
  [[nodiscard]] const Shape& shape() const { return info().shape; }
  [[nodiscard]] Dtype dtype() const { return *info().dtype; }
  [[nodiscard]] const Communicator& comm() const;
  /// Returns the number of its files.
  [[nodiscard]] std::int64_t files() const;
  /// Returns the array as it is stored, to copy it to a format that has attributes: the stored numbers, and all
  /// attributes that decode them. Unsigned numbers without a dtype in the library that have decoding attributes become
  /// signed ones with the same bits and `_Unsigned`; uint64 without them (info().uint64) becomes int64 with the same
  /// bits, for SaveOptions::uint64. Returns the array itself if no attribute decodes its numbers, if a
  /// dtype was asked for, if files have different attributes, and if uint64 is decoded. Collective: inspects all files.
  /// Throws as the constructor.
  [[nodiscard]] StoredArray stored() const;
  /// Whether it stays in the files until it is read, as all formats except CSV.
  [[nodiscard]] bool streams() const;

  /// Returns how many rows have about this many bytes: whole chunks, and at least one row.
  [[nodiscard]] std::int64_t rows_of_bytes(std::int64_t bytes) const;
  /// Returns the rows first ... first + count - 1, split along axis 0. Each rank reads its own: whole chunks if there
  /// are enough. Collective. Throws on all ranks: IndexError for rows that do not exist, ValueError for an array
  /// without axes, IoError.
  [[nodiscard]] DNDarray rows(std::int64_t first, std::int64_t count) const;
  /// Returns the whole array, split along axis 0 if it has one. Collective. Throws IoError, MemoryError on all ranks.
  [[nodiscard]] DNDarray all() const;

 private:
  struct Impl;
  explicit StoredArray(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace heatpp::io
