#include <heatpp/core/detail/cuts/cut.hpp>

#include <heatpp/core/detail/simd.hpp>

namespace heatpp::detail {
namespace {

/// Adds to each owner how many of the offsets its index has reached.
HEATPP_SIMD void add_reached(const std::int64_t* indices, std::int64_t n, std::span<const std::int64_t> offsets,
                             std::int64_t* owners) {
  for (const auto offset : offsets)
    for (std::int64_t i = 0; i < n; ++i) owners[i] += indices[i] >= offset;
}

}  // namespace

Cut Cut::rule(std::int64_t least, std::int64_t more, std::int64_t longer, int ranks) {
  Cut cut;
  cut.least_ = least;
  cut.more_ = longer > 0 ? more : 0;
  cut.longer_ = more > 0 ? static_cast<int>(longer) : 0;
  cut.ranks_ = ranks;
  return cut;
}

Cut Cut::even(std::int64_t extent, int ranks) { return rule(extent / ranks, 1, extent % ranks, ranks); }

Cut Cut::at(std::vector<std::int64_t> offsets) {
  const auto ranks = static_cast<int>(std::ssize(offsets)) - 1;
  const auto most = offsets[1] - offsets[0], least = offsets.back() - offsets.end()[-2];
  const auto differs_from = [](auto count) { return [=](auto first, auto last) { return last - first != count; }; };
  const auto turn = std::adjacent_find(offsets.begin(), offsets.end(), differs_from(most));
  if (most >= least && std::adjacent_find(turn, offsets.end(), differs_from(least)) == offsets.end())
    return rule(least, most - least, turn - offsets.begin(), ranks);
  Cut cut;
  cut.ranks_ = ranks;
  cut.given_ = std::make_shared<const std::vector<std::int64_t>>(std::move(offsets));
  return cut;
}

int Cut::owner(std::int64_t index) const {
  if (given_) return static_cast<int>(std::ranges::upper_bound(*given_, index) - given_->begin()) - 1;
  const auto of_longer = longer_ * (least_ + more_);
  if (index < of_longer) return static_cast<int>(index / (least_ + more_));
  return longer_ + static_cast<int>((index - of_longer) / std::max<std::int64_t>(1, least_));
}

/// A few ranks are counted, because indices often come in no order, and a search would mispredict every second
/// comparison.
void Cut::owners(std::span<const std::int64_t> indices, std::int64_t* owners) const {
  constexpr int few = 32;
  if (ranks_ >= few) {
    std::ranges::transform(indices, owners, [this](auto index) { return owner(index); });
    return;
  }
  constexpr std::int64_t piece = 1024;  // stays in the first-level cache
  const auto all = offsets();
  const auto inner = std::span(all).subspan(1, all.size() - 2);
  const auto n = std::ssize(indices);
  std::fill_n(owners, n, 0);
  for (std::int64_t i = 0; i < n; i += piece)
    add_reached(indices.data() + i, std::min(piece, n - i), inner, owners + i);
}

std::vector<std::int64_t> Cut::offsets() const {
  if (given_) return *given_;
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(ranks_) + 1);
  for (int rank = 0; rank <= ranks_; ++rank) offsets[static_cast<std::size_t>(rank)] = first(rank);
  return offsets;
}

Cut Cut::scaled(std::int64_t factor) const {
  if (!given_) return rule(factor * least_, factor * more_, longer_, ranks_);
  auto all = *given_;
  for (auto& offset : all) offset *= factor;
  return at(std::move(all));
}

}  // namespace heatpp::detail
