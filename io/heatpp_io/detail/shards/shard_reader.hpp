#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <heatpp_io/detail/elements/decoding.hpp>
#include <heatpp_io/detail/elements/selection.hpp>
#include <heatpp_io/detail/shards/shards.hpp>

namespace heatpp::io::detail {

/// Reads boxes of an open array into tensors of their extents, on this rank only, and converts to the tensor's dtype as
/// `astype`. Throws IoError.
using BoxReader = std::function<void(const Selection& box, const at::Tensor& out)>;

/// An open array of a file: how to read its stored numbers, and how to decode them.
struct OpenArray {
  DatasetInfo info;
  BoxReader read;
  Decoding decoding = {};
};
using OpenShard = std::function<OpenArray(const std::string& path)>;

/// Opens files to look at them. The first reader of the last one gets the same open array, so a rank that looks and
/// then reads opens the file once.
class FirstLook {
 public:
  explicit FirstLook(OpenShard open) : open_(std::move(open)) {}
  [[nodiscard]] DatasetInfo describe(const std::string& path);
  [[nodiscard]] OpenArray take(const std::string& path);
  void close() { kept_.reset(); }

 private:
  OpenShard open_;
  std::optional<std::pair<std::string, OpenArray>> kept_;
};

/// Throws IoError if a rank that opens the file of a shard sees another array than `shards` says. Rows may have come.
void check_same(const DatasetInfo& info, const Shards& shards, std::size_t shard, const char* op);

/// Reads boxes of the array that shards form, on this rank only. Opens a file when its first element is needed, and
/// keeps the last `keep` files open.
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
  std::vector<std::pair<std::size_t, BoxReader>> opened_;  // open shards, the most recently used first
};

/// The rows of `box` that are rows first ... last of the whole array, as positions in the box.
struct RowRange {
  std::int64_t first, count;
};
[[nodiscard]] RowRange rows_within(const ResolvedSlice& rows, std::int64_t first, std::int64_t last);

}  // namespace heatpp::io::detail
