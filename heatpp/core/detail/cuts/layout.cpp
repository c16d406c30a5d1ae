#include <heatpp/core/layout.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {

Layout::Layout(Shape shape, std::optional<int> split, int ranks) : shape_(std::move(shape)), ranks_(ranks) {
  static_cast<void>(size_of(shape_));  // checks the extents
  if (!split) return;
  split_ = sanitize_axis(*split, ndim(), "split");
  cut_ = detail::Cut::even(shape_[static_cast<std::size_t>(*split_)], ranks);
}

Layout::Layout(Shape shape, int split, std::vector<std::int64_t> offsets)
    : shape_(std::move(shape)), ranks_(static_cast<int>(offsets.size()) - 1) {
  static_cast<void>(size_of(shape_));
  split_ = sanitize_axis(split, ndim(), "split");
  const auto extent = shape_[static_cast<std::size_t>(*split_)];
  if (ranks_ < 1 || offsets.front() != 0 || offsets.back() != extent || !std::ranges::is_sorted(offsets))
    detail::raise<ValueError>("Layout", "got offsets {} for extent {}; expected them to rise from 0 to the extent",
                              detail::tuple_text(offsets), extent);
  cut_ = detail::Cut::at(std::move(offsets));
}

void Layout::refuse_extent() const {
  detail::raise<ValueError>("Layout", "got extent {} along axis {}; expected {}",
                            shape_[static_cast<std::size_t>(*split_)], *split_, cut_.extent());
}

std::int64_t Layout::size() const { return size_of(shape_); }

std::vector<std::int64_t> Layout::offsets() const { return split() ? cut_.offsets() : std::vector<std::int64_t>(); }

Shape Layout::local_shape(int rank) const {
  auto local = shape_;
  if (split_) local[static_cast<std::size_t>(*split_)] = cut_.extent(rank);
  for (std::size_t axis = 0; grid_ && axis < local.size(); ++axis)
    local[axis] = grid_->cuts()[axis].extent(grid_->coordinate(rank, axis));
  return local;
}

Shape Layout::local_offset(int rank) const {
  Shape offset(shape_.size(), 0);
  if (split_) offset[static_cast<std::size_t>(*split_)] = cut_.first(rank);
  for (std::size_t axis = 0; grid_ && axis < offset.size(); ++axis)
    offset[axis] = grid_->cuts()[axis].first(grid_->coordinate(rank, axis));
  return offset;
}

Layout Layout::from_counts(Shape shape, int split, std::span<const std::int64_t> counts) {
  std::vector<std::int64_t> offsets(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  shape[static_cast<std::size_t>(split)] = offsets.back();
  return {std::move(shape), split, std::move(offsets)};
}

Layout Layout::with(Shape shape, std::optional<int> split) const {
  if (grid_) refuse_grid();
  if (!split) return replicated(std::move(shape));
  return {std::move(shape), *split, cut_};
}

bool same_cut(const Layout& a, const Layout& b) {
  if (a.grid_ || b.grid_) return a.grid_ && b.grid_ && (a.grid_ == b.grid_ || *a.grid_ == *b.grid_);
  return a.split_ == b.split_ && a.ranks_ == b.ranks_ && a.cut_ == b.cut_;
}

bool operator==(const Layout& a, const Layout& b) { return a.shape_ == b.shape_ && same_cut(a, b); }

std::string cut_text(const Layout& layout) {
  return layout.is_grid() ? "grid " + detail::tuple_text(layout.grid()) : to_string(layout.split());
}

}  // namespace heatpp
