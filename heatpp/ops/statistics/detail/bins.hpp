#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/statistics/histogram.hpp>

namespace heatpp::detail {

using Range = std::pair<double, double>;

/// The bins of one axis of a histogram.
struct Bins {
  std::vector<double> edges;
  bool even = true;  ///< whether all have equal widths, up to rounding
  DNDarray array;    ///< the edges

  [[nodiscard]] std::int64_t count() const { return std::ssize(edges) - 1; }
};

/// The arguments that determine the bins of one axis.
struct BinsWanted {
  std::int64_t count;
  std::optional<Range> range;
  std::optional<DNDarray> edges;
  Dtype dtype;  ///< dtype of edges that are made here
};

/// Makes the bins of histograms with an axis for each of `columns`, the blocks of arrays as `like`. One allreduce of
/// the extremes of the columns that have neither range nor edges. Throws as histogram does, on all ranks.
[[nodiscard]] std::vector<Bins> make_bins(const char* op, std::span<const at::Tensor> columns,
                                          std::span<const BinsWanted> wanted, const DNDarray& like);

/// Returns the number of the bin of each element of a block, or -1 for elements outside the bins and NaN.
[[nodiscard]] at::Tensor bin_numbers(const at::Tensor& block, const Bins& bins);

/// Returns how many elements of a block are in each bin.
[[nodiscard]] at::Tensor bin_counts(const at::Tensor& block, const Bins& bins);

}  // namespace heatpp::detail
