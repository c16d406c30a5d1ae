#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace heatpp::detail {

/// Returns how many of the first `n` elements are `before`; all of these precede the others. In the first-level cache
/// it works without branches, which would be mispredicted half of the time; beyond it branches prefetch.
template <class K, class Before>
[[nodiscard]] std::int64_t count_before(const K* first, std::int64_t n, Before before) {
  constexpr std::int64_t cached = 4096;
  if (n > cached) return std::partition_point(first, first + n, before) - first;
  if (n == 0) return 0;
  const auto* base = first;
  while (n > 1) {
    const auto half = n / 2;
    base += half * static_cast<std::int64_t>(before(base[half - 1]));
    n -= half;
  }
  return base - first + before(*base);
}

/// Counts these if they are likely few: by doubling steps, then by bisection.
template <class K, class Before>
[[nodiscard]] std::int64_t count_few_before(const K* first, std::int64_t n, Before before) {
  std::int64_t found = 0, step = 1;
  for (; found + step < n && before(first[found + step - 1]); step *= 2) found += step;
  return found + count_before(first + found, std::min(step, n - found), before);
}

/// Finds the interval of `count` rising edges that holds a value: i with edges[i] <= value < edges[i + 1], for values
/// from the first edge to before the last. If no edge is more than a width from its even place, it looks near that
/// place; otherwise it bisects. The edges must stay in memory.
template <class T>
class Brackets {
 public:
  Brackets(const T* edges, std::int64_t count) : edges_(edges), last_(count - 1), low_(static_cast<double>(edges[0])) {
    const auto scale = static_cast<double>(last_) / (static_cast<double>(edges[last_]) - low_);
    if (std::isfinite(scale) && are_nearly_even(1 / scale)) scale_ = scale;
  }

  [[nodiscard]] std::int64_t operator()(T value) const {
    if (scale_ == 0) {
      const auto before = count_before(edges_, last_, [value](T edge) { return edge <= value; });
      return std::max<std::int64_t>(1, before) - 1;  // none if an edge is NaN
    }
    auto i = std::min(last_ - 1, static_cast<std::int64_t>((static_cast<double>(value) - low_) * scale_));
    while (value < edges_[i]) --i;
    while (value >= edges_[i + 1]) ++i;
    return i;
  }

 private:
  [[nodiscard]] bool are_nearly_even(double width) const {
    for (std::int64_t i = 0; i <= last_; ++i)
      if (!(std::abs(static_cast<double>(edges_[i]) - low_ - static_cast<double>(i) * width) <= width)) return false;
    return true;
  }

  const T* edges_;
  std::int64_t last_;
  double low_, scale_ = 0;  // brackets for each unit of the value; 0 if they are uneven
};

}  // namespace heatpp::detail
