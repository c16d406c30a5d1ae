#pragma once

#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/neighbors/nearest_neighbors.hpp>

namespace heatpp::ml::detail {

/// Returns rows in the form that a metric compares, C-ordered: for cosine of length 1, with rows of zeros at distance 1
/// from all; `fitted` distinguishes rows that are searched from those that ask. Local.
[[nodiscard]] at::Tensor comparable(Metric metric, const at::Tensor& rows, bool fitted);

/// A row near another, ordered by `reduced` distance, and by number for ties.
struct Near {
  double reduced;
  std::int64_t row;
  auto operator<=>(const Near&) const = default;
};

/// Returns the number that is compared: squared Euclidean, twice cosine, or Manhattan distance.
[[nodiscard]] double reduced(Metric metric, double distance);
[[nodiscard]] double distance_of(Metric metric, double reduced);

/// Calls take(i, near) for each row of `block`, whose first row has the global number `first`, that is no farther from
/// row i of `asking` than bound(i), which `take` may lower; in order of rows, for different i from several threads.
/// Lower bounds come from differences, or from a product for many features, in the dtype of both; the rest is compared
/// in float64, so that no distance depends on how rows are cut. Local.
struct Search {
  Metric metric;
  std::function<double(std::int64_t i)> bound;
  std::function<void(std::int64_t i, const Near& near)> take;
  void operator()(const at::Tensor& asking, const at::Tensor& block, std::int64_t first) const;
};

}  // namespace heatpp::ml::detail
