#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp/ops/operands/axes.hpp>
#include <string_view>
#include <utility>

namespace heatpp {

/// Two ends, `{0, 1}`, or nullopt.
struct HistogramRange : std::optional<std::pair<double, double>> {
  using optional::optional;
  HistogramRange() = default;
  HistogramRange(double first, double last) : optional(std::pair(first, last)) {}
};
struct HistogramOptions {
  std::int64_t bins = 10;                          ///< number of bins of equal width
  HistogramRange range = std::nullopt;             ///< nullopt: from the smallest to the largest element
  std::optional<DNDarray> edges = std::nullopt;    ///< edges of bins of any width, rising; instead of the two above
  std::optional<DNDarray> weights = std::nullopt;  ///< weight of each element, in the shape of `x`
  bool density = false;                            ///< divide by the bin's width and the sum of all, as float64
  std::string_view rule = {};                      ///< rule for the number of bins, instead of `bins`: see below
};

/// Counts the elements in each bin, and returns the edges of the bins. Each bin includes its left edge, and the last
/// one both. By NumPy's rules, elements outside all bins do not count, counts are int64, weighted ones have the dtype
/// of the weights, and edges that of floating `x`, else float64. One pass over the elements; an allreduce of the
/// extremes if no range is given, and one of the counts, which every rank gets. Weights in another layout are moved,
/// split edges are gathered. `rule` is one of NumPy's names, "auto", "doane", "fd", "rice", "scott", "sqrt", "stone"
/// and "sturges". It costs the extremes, moments or percentiles that it needs; "stone" costs one histogram for each
/// number of bins that it tries. Collective. Throws ValueError for less than one bin, falling edges, another rule or
/// one with weights, a range that falls or is not finite, weights of another shape; TypeError for complex arrays.
[[nodiscard]] std::pair<DNDarray, DNDarray> histogram(const DNDarray& x, const HistogramOptions& options = {});
[[nodiscard]] inline std::pair<DNDarray, DNDarray> histogram(const DNDarray& x, AxisNumber auto bins) {
  return histogram(x, HistogramOptions{.bins = static_cast<std::int64_t>(bins)});
}
/// Returns the edges that histogram would use.
[[nodiscard]] DNDarray histogram_bin_edges(const DNDarray& x, const HistogramOptions& options = {});

struct HistcOptions {
  std::int64_t bins = 100;
  double min = 0, max = 0;  ///< if both are equal: the smallest and the largest element
};
/// Returns the counts as PyTorch's and HeAT's histc: in the dtype of `x`. Communicates as histogram.
[[nodiscard]] DNDarray histc(const DNDarray& x, const HistcOptions& options = {});

struct HistogramddOptions {
  std::vector<std::int64_t> bins = {10};              ///< for each column, or one number for all
  std::vector<std::pair<double, double>> range = {};  ///< for each column; empty: from the smallest to the largest
  std::vector<DNDarray> edges = {};                   ///< for each column; instead of the two above
  std::optional<DNDarray> weights = std::nullopt;     ///< weight of each row
  bool density = false;
};
struct Histogramdd {
  DNDarray counts;              ///< float64, one axis for each column
  std::vector<DNDarray> edges;  ///< edges of each column
};
/// Computes the histogram of the rows of `sample`, with one axis for each of its columns. Rules, communication and
/// errors as those of histogram. A sample split along its columns is first split along its rows.
[[nodiscard]] Histogramdd histogramdd(const DNDarray& sample, const HistogramddOptions& options = {});

struct Histogram2d {
  DNDarray counts, x_edges, y_edges;
};
/// Computes the histogram of the pairs of elements of `x` and `y`, which have one axis and equal length. Edges given
/// once are for both.
[[nodiscard]] Histogram2d histogram2d(const DNDarray& x, const DNDarray& y, const HistogramddOptions& options = {});

struct BincountOptions {
  std::optional<DNDarray> weights = std::nullopt;
  std::int64_t minlength = 0;
};
/// Counts how often each whole number from 0 to the largest element occurs, or sums its weights (float64). An allreduce
/// of the extremes and one of the counts (int64), which every rank gets. Collective. Throws ValueError for negative
/// elements, more than one axis, a negative minlength, weights of another shape; TypeError for other dtypes than whole
/// numbers and bool.
[[nodiscard]] DNDarray bincount(const DNDarray& x, const BincountOptions& options = {});

}  // namespace heatpp
