#pragma once

#include <heatpp/core/detail/cuts/ranks_over.hpp>
#include <heatpp/core/layout.hpp>

namespace heatpp::detail {

/// Elements start, start + stride, ... of the full convolution; `count` is their number.
struct OutputRange {
  std::int64_t start, count, stride;
};

/// Where the last axis of an array is cut for its convolution. Results first .. last of the part need elements
/// below(first) .. above(last), including those outside the array. Rank r's first result is the first one whose newest
/// element of `same` it holds; the last rank takes the rest. The layout has to outlive the window.
class ConvolutionWindow {
 public:
  ConvolutionWindow(const Layout& input, const OutputRange& part, std::int64_t taps)
      : input_(input), part_(part), taps_(taps) {}

  /// Returns the layout of the results.
  [[nodiscard]] Layout layout(Shape shape) const;
  [[nodiscard]] std::int64_t stride() const { return part_.stride; }
  [[nodiscard]] bool cut() const { return input_.split() == input_.ndim() - 1; }
  /// Return the results of a rank.
  [[nodiscard]] std::int64_t first(int rank) const { return cut() ? bound(rank) : 0; }
  [[nodiscard]] std::int64_t last(int rank) const { return cut() ? bound(rank + 1) : part_.count; }
  [[nodiscard]] std::int64_t below(std::int64_t result) const {
    return part_.start + result * part_.stride - taps_ + 1;
  }
  [[nodiscard]] std::int64_t above(std::int64_t result) const { return below(result - 1) + taps_; }
  /// Return the elements that a rank holds.
  [[nodiscard]] std::int64_t begin(int rank) const { return cut() ? input_.offset(rank) : 0; }
  [[nodiscard]] std::int64_t end(int rank) const { return cut() ? input_.offset(rank + 1) : input_.shape().back(); }

  /// Returns the elements that a rank needs and does not hold.
  [[nodiscard]] std::vector<std::int64_t> missing(int rank) const;
  /// Returns the ranks whose results need elements that `rank` holds.
  [[nodiscard]] std::vector<RankRange> takers(int rank) const;

 private:
  /// How far the newest element of `same` lies behind the result, at stride 1; 0 for `same`.
  [[nodiscard]] std::int64_t shift() const { return part_.start - (taps_ - 1) / 2; }
  [[nodiscard]] std::int64_t bound(int rank) const;
  [[nodiscard]] int owner(std::int64_t result) const;

  const Layout& input_;
  OutputRange part_;
  std::int64_t taps_;
};

}  // namespace heatpp::detail
