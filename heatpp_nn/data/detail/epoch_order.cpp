#include <heatpp_nn/data/detail/epoch_order.hpp>

#include <algorithm>

namespace heatpp::nn::detail {

using random::detail::Bijection;

EpochOrder::EpochOrder(const Layout& layout, int rank, const SamplerOptions& options, std::int64_t epoch)
    : options_(options), epoch_(static_cast<std::uint64_t>(epoch)) {
  const bool local = options.shuffle == Shuffle::local;
  rows_ = local ? layout.count(rank) : layout.shape()[0];
  first_ = local ? layout.offset(rank) : 0;
  if (local) all_ = bijection(static_cast<std::uint64_t>(rank) + 1, rows_);
  if (options.shuffle == Shuffle::global) all_ = bijection(0, rows_);
  if (options.shuffle != Shuffle::blocks) return;
  const auto blocks = (rows_ + options.block - 1) / options.block;
  all_ = bijection(0, blocks);
  short_rows_ = rows_ - std::max<std::int64_t>(0, blocks - 1) * options.block;
  short_place_ = blocks ? all_->inverse(blocks - 1) * options.block : 0;
}

Bijection EpochOrder::bijection(std::uint64_t stream, std::int64_t n) const {
  return {random::detail::Key(mixed(options_.seed, static_cast<std::uint64_t>(options_.shuffle), stream)), epoch_, n};
}

std::int64_t EpochOrder::operator()(std::int64_t place) {
  if (options_.shuffle == Shuffle::none) return place;
  if (options_.shuffle == Shuffle::blocks) return block_row(mixed_place(place));
  return first_ + (*all_)(place - first_);
}

std::int64_t EpochOrder::mixed_place(std::int64_t place) {
  const auto size = options_.block * options_.mix;
  if (const auto group = place / size; group != group_) {
    group_ = group;
    within_ = bijection(static_cast<std::uint64_t>(group) + 1, std::min(size, rows_ - group * size));
  }
  return group_ * size + (*within_)(place - group_ * size);
}

std::int64_t EpochOrder::block_row(std::int64_t place) const {
  const auto block = options_.block;
  if (place < short_place_) return (*all_)(place / block) * block + place % block;
  if (place < short_place_ + short_rows_) return rows_ - short_rows_ + place - short_place_;
  const auto behind = place - short_rows_;  // as if the short block did not exist
  return (*all_)(behind / block + 1) * block + behind % block;
}

}  // namespace heatpp::nn::detail
