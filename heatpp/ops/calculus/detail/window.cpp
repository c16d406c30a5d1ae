#include <heatpp/ops/calculus/detail/window.hpp>

#include <algorithm>

namespace heatpp::detail {

Layout ConvolutionWindow::layout(Shape shape) const {
  shape.back() = part_.count;
  if (!cut() || (shift() == 0 && part_.stride == 1 && part_.count == input_.shape().back()))
    return input_.with(std::move(shape), input_.split());
  std::vector<std::int64_t> bounds;
  for (int rank = 0; rank <= input_.ranks(); ++rank) bounds.push_back(bound(rank));
  return {std::move(shape), *input_.split(), std::move(bounds)};
}

std::vector<std::int64_t> ConvolutionWindow::missing(int rank) const {
  std::vector<std::int64_t> result;
  if (first(rank) == last(rank)) return result;
  const auto from = below(first(rank)), to = above(last(rank));
  for (auto i = from; i < std::min(begin(rank), to); ++i) result.push_back(i);
  for (auto i = std::max(end(rank), from); i < to; ++i) result.push_back(i);
  return result;
}

std::vector<RankRange> ConvolutionWindow::takers(int rank) const {
  if (!cut() || begin(rank) == end(rank)) return {};
  // Result i needs one of the elements if below(i) < end and below(i) + taps > begin.
  const auto at_least = [this](std::int64_t least) {  // the first result i with i stride >= least
    return least <= 0 ? 0 : (least - 1) / part_.stride + 1;
  };
  const auto first = at_least(begin(rank) - part_.start);
  const auto last = std::min(part_.count, at_least(end(rank) - part_.start + taps_ - 1));
  if (first >= last) return {};
  return {{owner(first), owner(last - 1) + 1}};
}

std::int64_t ConvolutionWindow::bound(int rank) const {
  if (rank == 0) return 0;
  if (rank == input_.ranks()) return part_.count;
  const auto index = (std::max<std::int64_t>(0, input_.offset(rank) - shift()) + part_.stride - 1) / part_.stride;
  return std::min(index, part_.count);
}

/// Returns the rank of a result: the last one whose bound is not behind it.
int ConvolutionWindow::owner(std::int64_t result) const {
  const auto newest = result * part_.stride + shift();
  if (newest < 0) return 0;
  return newest < input_.shape().back() ? input_.cut().owner(newest) : input_.ranks() - 1;
}

}  // namespace heatpp::detail
