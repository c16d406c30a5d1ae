#pragma once

#include <heatpp/ml/neighbors/nearest_neighbors.hpp>
#include <heatpp/core/detail/torch.hpp>

namespace heatpp::ml::detail {

/// The search for pairs of rows at most eps apart.
class Within {
 public:
  /// `low` and `high` are the minima and maxima of all columns over all ranks; they decide whether cells are used.
  Within(Metric metric, double eps, std::vector<double> box, std::vector<double> low, std::vector<double> high);
  [[nodiscard]] bool in_cells() const { return !cells_.empty(); }
  [[nodiscard]] const std::vector<double>& box() const { return box_; }
  /// Returns the largest distance along one axis of rows at most eps apart, rounding included.
  [[nodiscard]] double reach() const { return reach_; }
  /// Calls f with a place and those of its images across sides of the periodic box that may be near places inside.
  void each_image(const double* place, const std::function<void(const double* image)>& f) const;
  /// Returns the order in which rows, (n, features) float64, are to be compared. Local.
  [[nodiscard]] std::vector<std::int64_t> order(const at::Tensor& rows) const;
  /// Calls found(i, j) if row i of `asking` and row j of `block`, both in order, are at most eps apart, while wanted(i)
  /// is true. Several threads call it, for different i. Local.
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
  std::vector<std::int64_t> cells_;  ///< along each axis; empty if rows are compared with all
};

}  // namespace heatpp::ml::detail
