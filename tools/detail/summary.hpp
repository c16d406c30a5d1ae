#pragma once

#include <heatpp_io/stream/stored_array.hpp>

#include <functional>
#include <vector>

namespace tools {

/// Statistics of an array's elements; complex ones count by their modulus, bool as 0 and 1. They cover the finite
/// numbers, except for the counts of the others.
struct Summary {
  std::int64_t size = 0, missing = 0, infinite = 0;                        ///< numbers of elements, NaN, infinities
  double min = 0, max = 0, mean = 0, std = 0, skewness = 0, kurtosis = 0;  ///< excess kurtosis; NaN if undefined
  std::vector<double> percents = {}, percentiles = {};
  bool exact = true;  ///< else the error of percentiles is at most one of many thousand bins
  std::vector<std::int64_t> counts = {};
  double low = 0, high = 0;  ///< ends of the histogram
};

struct SummaryOptions {
  std::vector<double> percents = {1, 5, 25, 50, 75, 95, 99};
  std::int64_t bins = 20;
  std::int64_t piece_bytes = std::int64_t{1} << 30;  ///< larger arrays are read in pieces, twice
  std::function<void(std::int64_t rows)> done = {};  ///< called after each piece
};
/// Makes one pass over an array that fits in one piece, else two. Collective.
[[nodiscard]] Summary summarise(const heatpp::io::StoredArray& x, const SummaryOptions& options);
/// Returns how many rows `done` counts in total.
[[nodiscard]] std::int64_t rows_to_read(const heatpp::io::StoredArray& x, const SummaryOptions& options);

}  // namespace tools
