#pragma once

#include <heatpp/core/rows.hpp>
#include <heatpp_io/detail/shards/shard_reader.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>

namespace heatpp::io::detail {

/// Rows in files. A pass gives about 4 MiB of rows at a time, and reads the next ones while the caller uses them.
class StoredSource : public RowSource {
 public:
  /// This rank's rows begin at row `first` of all rows and have `row_bytes` bytes each. Chunks of `chunk` rows are read
  /// whole if 64 MiB suffice.
  StoredSource(std::int64_t first, std::int64_t row_bytes, std::int64_t chunk = 1);
  void pass(std::int64_t count, std::int64_t features, const Visit& f) const final;

 protected:
  [[nodiscard]] std::int64_t first() const { return first_; }

 private:
  [[nodiscard]] std::int64_t stretch(std::int64_t begin, std::int64_t count) const;
  std::int64_t first_, most_, chunk_;
};

/// A matrix in files of any format.
struct StoredMatrix {
  const char* op;
  Shards shards;
  OpenShard open;
  std::shared_ptr<std::recursive_mutex> turn;  ///< held while a file is opened, read and closed
};
/// Returns the rows of the matrix, cut evenly over the ranks. Local. Throws ValueError for another number of axes,
/// TypeError for complex numbers.
[[nodiscard]] Rows rows_of(StoredMatrix matrix, const StoredRowsOptions& options);

/// Returns the layout of the rows of a stored array of this shape. Throws as rows_of.
[[nodiscard]] Layout layout_of_rows(const char* op, const Shape& shape, Dtype dtype, const Communicator& comm);

/// Returns `read`. It throws IoError if the file at `path` has become shorter, for formats that then give zeros.
[[nodiscard]] BoxReader watched(BoxReader read, const std::string& path, const char* op);

}  // namespace heatpp::io::detail
