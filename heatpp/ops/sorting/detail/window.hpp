#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heatpp::detail {

/// The elements between `low` and `high`, and the numbers of those that are equal to these or lie below.
template <class T>
struct Window {
  T low, high;
  std::int64_t below = 0, at_low = 0, between = 0, at_high = 0;  ///< at_high is 0 if low == high
  std::vector<T> inside = {};
};

/// Adds the elements of a column to windows, in one pass over memory. NaN lies in no window. T is a type of
/// AT_DISPATCH_ALL_TYPES.
template <class T>
void sift(std::span<const T> column, std::span<Window<T>> windows);

}  // namespace heatpp::detail
