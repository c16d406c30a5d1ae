#include <heatpp_io/detail/shards/shard_reader.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>

namespace heatpp::io::detail {

RowRange rows_within(const ResolvedSlice& rows, std::int64_t first, std::int64_t last) {
  // Positions of the first rows at or after `first` and `last`.
  const auto position = [&](std::int64_t row) {
    return std::clamp<std::int64_t>((row - rows.start + rows.step - 1) / rows.step, 0, rows.count);
  };
  const auto begin = first <= rows.start ? 0 : position(first);
  const auto end = last <= rows.start ? 0 : position(last);
  return {begin, end - begin};
}

DatasetInfo FirstLook::describe(const std::string& path) {
  close();
  return kept_.emplace(path, open_(path)).second.info;
}

OpenArray FirstLook::take(const std::string& path) {
  if (!kept_ || kept_->first != path) return open_(path);
  auto opened = std::move(kept_->second);
  close();
  return opened;
}

void check_same(const DatasetInfo& info, const Shards& shards, std::size_t shard, const char* op) {
  auto expected = shards.info.shape;
  if (!expected.empty()) expected[0] = shards.offsets[shard + 1] - shards.offsets[shard];
  auto first = info.shape;                                   // without the rows that were added after the look
  const bool grows = info.may_grow || shards.info.may_grow;  // it may since have all the rows that it has room for
  if (grows && !first.empty() && !expected.empty()) first[0] = std::min(first[0], expected[0]);
  const bool alike = info.digest == shards.info.digest || shards.count() > 1;
  if (first == expected && info.element == shards.info.element && alike) return;
  heatpp::detail::raise<IoError>(
      op, "got \"{}\" with {}; expected {}, as a rank saw it a moment before, and the same file on all ranks",
      shards.paths[shard], text_of(info), text_of({expected, shards.info.element}));
}

const BoxReader& ShardReader::reader(std::size_t shard) {
  const auto known = std::ranges::find(opened_, shard, &std::pair<std::size_t, BoxReader>::first);
  if (known != opened_.end()) {
    std::rotate(opened_.begin(), known, known + 1);
    return opened_.front().second;
  }
  auto opened = open_(shards_.paths[shard]);
  check_same(opened.info, shards_, shard, op_);
  if (opened_.size() == keep_) opened_.pop_back();
  return opened_.emplace(opened_.begin(), shard, std::move(opened.read))->second;
}

void ShardReader::read(const Selection& box, const at::Tensor& out) {
  if (out.numel() == 0) return;
  if (box.empty()) return BoxReader(reader(0))(box, out);
  const auto& rows = box[0];
  const auto shard_of = [&](std::int64_t row) {
    return static_cast<std::size_t>(std::ranges::upper_bound(shards_.offsets, row) - shards_.offsets.begin() - 1);
  };
  const auto last = shard_of(rows.start + (rows.count - 1) * rows.step);
  for (auto shard = shard_of(rows.start); shard <= last; ++shard) {
    const auto [first, count] = rows_within(rows, shards_.offsets[shard], shards_.offsets[shard + 1]);
    if (count == 0) continue;
    auto part = narrow(box, 0, first, count);
    part[0].start -= shards_.offsets[shard];
    const auto read = reader(shard);  // stays valid while other threads open their shards
    read(part, out.narrow(0, first, count));
  }
}

}  // namespace heatpp::io::detail
