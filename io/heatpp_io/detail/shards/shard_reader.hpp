#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <heatpp_io/detail/elements/decoding.hpp>
#include <heatpp_io/detail/elements/selection.hpp>
#include <heatpp_io/detail/shards/shards.hpp>

namespace heatpp::io::detail {

/// Reads boxes of an open array into tensors of their extents, on this rank alone, converting to the tensor's dtype as
/// `astype` does. Throws IoError.
using BoxReader = std::function<void(const Selection& box, const at::Tensor& out)>;

/// An open array of a file, to be read: the numbers that are stored, and what attributes say of them.
struct OpenArray {
  DatasetInfo info;
  BoxReader read;
  Decoding decoding = {};
};
using OpenShard = std::function<OpenArray(const std::string& path)>;

/// Reads boxes of the array that shards form, on this rank alone. Opens a file when the first element of it is needed,
/// and keeps the last `keep` open.
class ShardReader {
 public:
  ShardReader(const Shards& shards, OpenShard open, const char* op, std::size_t keep = 1)
      : shards_(shards), open_(std::move(open)), op_(op), keep_(keep) {}

  /// Reads `box` into `out`, a contiguous block of its extents. Throws IoError.
  void read(const Selection& box, const at::Tensor& out);

 private:
  const BoxReader& reader(std::size_t shard);

  const Shards& shards_;
  OpenShard open_;
  const char* op_;
  std::size_t keep_;
  std::vector<std::pair<std::size_t, BoxReader>> opened_;  // shards; the one used last comes first
};

/// The rows of `box` that lie in rows first .. last of the whole, as positions in the box.
struct RowRange {
  std::int64_t first, count;
};
[[nodiscard]] RowRange rows_within(const ResolvedSlice& rows, std::int64_t first, std::int64_t last);

}  // namespace heatpp::io::detail
