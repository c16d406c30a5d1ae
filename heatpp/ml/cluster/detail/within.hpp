#pragma once

#include <heatpp/ml/neighbors/nearest_neighbors.hpp>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::ml::detail {

/// Rows at most eps apart.
class Within {
 public:
  /// `low` are the least numbers of all columns over all ranks, `high` the largest; they decide upon cells.
  Within(Metric metric, double eps, std::vector<double> box, std::vector<double> low, std::vector<double> high);
  [[nodiscard]] bool in_cells() const { return !cells_.empty(); }
  [[nodiscard]] const std::vector<double>& box() const { return box_; }
  /// Rows that are at most eps apart are no further apart along any axis, roundings included.
  [[nodiscard]] double reach() const { return reach_; }
  /// Calls f with a place and with its images across the sides of the periodic box that may be near places inside.
  void each_image(const double* place, const std::function<void(const double* image)>& f) const;
  /// The order in which rows, (n, features) float64, are to be compared. Local.
  [[nodiscard]] std::vector<std::int64_t> order(const at::Tensor& rows) const;
  /// Calls found(i, j) where row i of `asking` and row j of `block`, both in order, are at most eps apart, as long as
  /// wanted(i): for different i from several threads. Local.
  using Wanted = std::function<bool(std::int64_t i)>;
  using Found = std::function<void(std::int64_t i, std::int64_t j)>;
  void operator()(const at::Tensor& asking, const at::Tensor& block, const Wanted& wanted, const Found& found) const;

 private:
  [[nodiscard]] std::int64_t cell(std::size_t axis, double x) const;
  [[nodiscard]] std::int64_t key(const double* row) const;
  void compare_cells(const at::Tensor& asking, const at::Tensor& block, const Wanted& wanted, const Found& found) const;

  Metric metric_;
  double eps_, reach_;
  std::vector<double> box_, low_, width_;
  std::vector<std::int64_t> cells_;  ///< along each axis; empty where rows are compared with all
};

}  // namespace heatpp::ml::detail
