#pragma once

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/statistics/histogram.hpp>

namespace heatpp::detail {

using Range = std::pair<double, double>;

/// The bins of one axis of a histogram.
struct Bins {
  std::vector<double> edges;
  bool even = true;  ///< whether all are equally wide, up to rounding
  DNDarray array;    ///< the edges

  [[nodiscard]] std::int64_t count() const { return std::ssize(edges) - 1; }
};

/// What makes the bins of one axis.
struct BinsWanted {
  std::int64_t count;
  std::optional<Range> range;
  std::optional<DNDarray> edges;
  Dtype dtype;  ///< of edges that are made here
};

/// The bins of histograms with an axis for each of `columns`, the blocks of arrays as `like`. One allreduce of the
/// extremes of those columns that have neither range nor edges. Throws as histogram does, on all ranks.
[[nodiscard]] std::vector<Bins> make_bins(const char* op, std::span<const at::Tensor> columns,
                                          std::span<const BinsWanted> wanted, const DNDarray& like);

/// For each element of a block the number of its bin, or -1; elements outside of the bins and NaN are in none.
[[nodiscard]] at::Tensor bin_numbers(const at::Tensor& block, const Bins& bins);

/// How many elements of a block are in each bin.
[[nodiscard]] at::Tensor bin_counts(const at::Tensor& block, const Bins& bins);

}  // namespace heatpp::detail
