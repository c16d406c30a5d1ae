#pragma once

#include <heatpp_io/detail/box_io.hpp>
#include <heatpp_io/detail/shards.hpp>

namespace heatpp::io::detail {

/// Reads boxes of the array that shards form, on this rank alone. Opens a file when the first element of it is needed,
/// and keeps the last one open.
class ShardReader {
 public:
  ShardReader(const Shards& shards, const char* op) : shards_(shards), op_(op) {}

  /// Reads `box` into `out`, a contiguous block of its extents. Throws IoError.
  void read(const Selection& box, const at::Tensor& out);

 private:
  const Dataset& open(std::size_t shard);

  const Shards& shards_;
  const char* op_;
  std::size_t current_ = 0;
  Dataset dataset_;
};

/// The rows of `box` that lie in rows first .. last of the whole, as positions in the box.
struct RowRange {
  std::int64_t first, count;
};
[[nodiscard]] RowRange rows_within(const ResolvedSlice& rows, std::int64_t first, std::int64_t last);

}  // namespace heatpp::io::detail
