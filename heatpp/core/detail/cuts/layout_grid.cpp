#include <heatpp/core/layout.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

// Layouts over a grid of ranks.
namespace heatpp {
namespace {

/// Returns the prime factors of a number, the largest first.
std::vector<int> factors_of(int number) {
  std::vector<int> factors;
  for (int factor = 2; number > 1; ++factor) {
    if (factor > number / factor) factor = number;  // what is left is a prime
    for (; number % factor == 0; number /= factor) factors.push_back(factor);
  }
  std::ranges::sort(factors, std::greater());
  return factors;
}

std::vector<int> balanced_along(const Shape& shape, int ranks) {
  std::vector<int> along(shape.size(), 1);
  const auto length = [&](std::size_t axis) { return static_cast<double>(shape[axis]) / along[axis]; };
  for (const auto factor : factors_of(ranks)) {
    std::size_t longest = 0;
    for (std::size_t axis = 1; axis < shape.size(); ++axis)
      if (length(axis) > length(longest)) longest = axis;
    along[longest] *= factor;
  }
  return along;
}

/// Whether the numbers are 1 or more and their product is `ranks`.
bool fills(const std::vector<int>& along, int ranks) {
  std::int64_t product = 1;
  for (const auto count : along) {
    if (count < 1) return false;
    product = std::min<std::int64_t>(product * count, std::int64_t{ranks} + 1);
  }
  return product == ranks;
}

}  // namespace

std::vector<int> Grid::along_axes(const Shape& shape, int count) const {
  if (balanced && !shape.empty()) return balanced_along(shape, count);
  if (balanced || ranks.size() != shape.size() || !fills(ranks, count))
    detail::raise<ValueError>("grid",
                              "got grid {} for shape {} on {} ranks; expected the ranks along each axis, 1 or more, "
                              "whose product is the number of ranks",
                              to_string(*this), to_string(shape), count);
  return ranks;
}

std::string to_string(const Grid& grid) {
  return grid.balanced ? "balanced" : grid.empty() ? "none" : detail::tuple_text(grid.ranks);
}

Layout Layout::from_cuts(Shape shape, std::vector<detail::Cut> cuts, std::vector<int> cells) {
  static_cast<void>(size_of(shape));
  Shape extents;
  for (const auto& cut : cuts) extents.push_back(cut.extent());
  if (extents != shape)
    detail::raise<ValueError>("Layout", "got cuts of extents {} for shape {}; expected the shape's", to_string(extents),
                              to_string(shape));
  return from_grid(std::move(shape), detail::GridCut(std::move(cuts), std::move(cells)));
}

Layout Layout::from_grid(Shape shape, detail::GridCut grid) {
  Layout layout(std::move(shape), std::nullopt, grid.ranks());
  if (grid.is_uncut()) return layout;
  if (const auto axis = grid.split()) return {layout.shape_, *axis, grid.cuts()[static_cast<std::size_t>(*axis)]};
  layout.grid_ = std::make_shared<const detail::GridCut>(std::move(grid));
  return layout;
}

Layout Layout::recut(Shape shape, std::vector<detail::Cut> cuts) const {
  if (grid_) return from_grid(std::move(shape), grid_->recut(std::move(cuts)));
  if (!split_) return replicated(std::move(shape));
  return {std::move(shape), *split_, cuts[static_cast<std::size_t>(*split_)]};
}

Layout Layout::along(Shape shape, std::span<const int> axes) const {
  if (grid_) {
    auto grid = grid_->along(shape, axes);
    return from_grid(std::move(shape), std::move(grid));
  }
  const auto kept = split_ ? std::ranges::find(axes, *split_) : axes.end();
  if (kept == axes.end()) return replicated(std::move(shape));
  return {std::move(shape), static_cast<int>(kept - axes.begin()), cut_};
}

Layout Layout::on_grid(Shape shape, const Grid& grid, int ranks) {
  static_cast<void>(size_of(shape));
  const auto along = grid.along_axes(shape, ranks);
  std::vector<detail::Cut> cuts;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) cuts.push_back(detail::Cut::even(shape[axis], along[axis]));
  return from_cuts(std::move(shape), std::move(cuts));
}

detail::Cut Layout::cut_along(int axis) const {
  const auto i = static_cast<std::size_t>(axis);
  if (grid_) return grid_->cuts()[i];
  return split_ == axis ? cut_ : detail::Cut::even(shape_[i], 1);
}

int Layout::place_along(int axis, int rank) const {
  if (grid_) return grid_->coordinate(rank, static_cast<std::size_t>(axis));
  return split_ == axis ? rank : 0;
}

std::vector<int> Layout::grid() const {
  std::vector<int> along;
  for (int axis = 0; axis < ndim(); ++axis) along.push_back(cut_along(axis).ranks());
  return along;
}

bool Layout::is_balanced() const {
  if (grid_) return std::ranges::all_of(grid_->cuts(), &detail::Cut::is_even);
  return !split_ || cut_.is_even();
}

Layout Layout::balanced() const {
  std::vector<detail::Cut> even;
  for (int axis = 0; axis < ndim(); ++axis)
    even.push_back(detail::Cut::even(shape_[static_cast<std::size_t>(axis)], cut_along(axis).ranks()));
  return recut(shape_, std::move(even));
}

void Layout::refuse_grid() const {
  detail::raise<ValueError>("split",
                            "got an array of shape {} on a grid of {} ranks, which has no one split; expected an array "
                            "with one cut, as resplit(x, axis) makes it; x.grid() tells the ranks along each axis",
                            to_string(shape_), detail::tuple_text(grid()));
}

}  // namespace heatpp
