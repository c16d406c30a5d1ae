#include <heatpp/core/layout.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/owner.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {
namespace {

std::vector<std::int64_t> even_offsets(std::int64_t extent, int ranks) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(ranks) + 1);
  for (int r = 0; r <= ranks; ++r)
    offsets[static_cast<std::size_t>(r)] = r * (extent / ranks) + std::min<std::int64_t>(r, extent % ranks);
  return offsets;
}

}  // namespace

Layout::Layout(Shape shape, std::optional<int> split, int ranks) : shape_(std::move(shape)), ranks_(ranks) {
  static_cast<void>(size_of(shape_));  // checks the extents
  if (!split) return;
  split_ = sanitize_axis(*split, ndim(), "split");
  offsets_ =
      std::make_shared<const std::vector<std::int64_t>>(even_offsets(shape_[static_cast<std::size_t>(*split_)], ranks));
}

Layout::Layout(Shape shape, int split, std::vector<std::int64_t> offsets)
    : shape_(std::move(shape)), ranks_(static_cast<int>(offsets.size()) - 1) {
  static_cast<void>(size_of(shape_));
  split_ = sanitize_axis(split, ndim(), "split");
  const auto extent = shape_[static_cast<std::size_t>(*split_)];
  if (ranks_ < 1 || offsets.front() != 0 || offsets.back() != extent || !std::ranges::is_sorted(offsets))
    detail::raise<ValueError>("Layout", "got offsets {} for extent {}; expected them to rise from 0 to the extent",
                              detail::tuple_text(offsets), extent);
  offsets_ = std::make_shared<const std::vector<std::int64_t>>(std::move(offsets));
}

std::int64_t Layout::size() const { return size_of(shape_); }

int Layout::owner(std::int64_t index) const { return detail::owner_of(index, *offsets_); }

Shape Layout::local_shape(int rank) const {
  auto local = shape_;
  if (split_) local[static_cast<std::size_t>(*split_)] = count(rank);
  return local;
}

bool Layout::is_balanced() const {
  return !split_ || *offsets_ == even_offsets(shape_[static_cast<std::size_t>(*split_)], ranks_);
}

Layout Layout::from_counts(Shape shape, int split, std::span<const std::int64_t> counts) {
  std::vector<std::int64_t> offsets{0};
  std::partial_sum(counts.begin(), counts.end(), std::back_inserter(offsets));
  shape[static_cast<std::size_t>(split)] = offsets.back();
  return {std::move(shape), split, std::move(offsets)};
}

Layout Layout::with(Shape shape, std::optional<int> split) const {
  if (!split) return replicated(std::move(shape));
  const auto extent = shape[static_cast<std::size_t>(*split)];
  if (extent != offset(ranks_))
    detail::raise<ValueError>("Layout", "got extent {} along axis {}; expected {}", extent, *split, offset(ranks_));
  return {std::move(shape), *split, ranks_, offsets_};
}

bool same_cut(const Layout& a, const Layout& b) {
  return a.split() == b.split() && a.ranks() == b.ranks() && std::ranges::equal(a.offsets(), b.offsets());
}

bool operator==(const Layout& a, const Layout& b) { return a.shape_ == b.shape_ && same_cut(a, b); }

}  // namespace heatpp
