#pragma once

#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/neighbors/nearest_neighbors.hpp>

namespace heatpp::ml::detail {

/// Rows as a metric compares them, C-ordered: those of cosine have length 1, and rows of zeros are at distance 1 from
/// all; `learnt` tells rows that are searched from those that ask. Local.
[[nodiscard]] at::Tensor comparable(Metric metric, const at::Tensor& rows, bool learnt);

/// A row near another, by how far it is, of several as far by its number: as Metric's `reduced` has it.
struct Near {
  double reduced;
  std::int64_t row;
  auto operator<=>(const Near&) const = default;
};

/// The square of a Euclidean distance, twice a cosine distance, a Manhattan distance: what is compared.
[[nodiscard]] double reduced(Metric metric, double distance);
[[nodiscard]] double distance_of(Metric metric, double reduced);

/// Calls take(i, near) for each row of `block`, whose first has the global number `first`, that is no farther from row
/// i of `asking` than bound(i), which `take` may lower: in order of rows, for different i from several threads. Lower
/// bounds of the distances come from differences, or from a product where there are many features, in the dtype of
/// both; what they leave is compared in float64, so that no distance depends on how rows are cut. Local.
struct Search {
  Metric metric;
  std::function<double(std::int64_t i)> bound;
  std::function<void(std::int64_t i, const Near& near)> take;
  void operator()(const at::Tensor& asking, const at::Tensor& block, std::int64_t first) const;
};

}  // namespace heatpp::ml::detail
