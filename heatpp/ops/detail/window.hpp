#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heatpp::detail {

/// The elements from `low` to `high`, and how many lie below them.
template <class T>
struct Window {
  T low, high;
  std::int64_t below = 0, count = 0;
  std::vector<T> inside = {};  ///< left empty where low == high
};

/// Adds the elements of a column to windows, in one pass over memory. NaN lies in none. T is float, double, int32_t or
/// int64_t.
template <class T>
void sift(std::span<const T> column, std::span<Window<T>> windows);

}  // namespace heatpp::detail
