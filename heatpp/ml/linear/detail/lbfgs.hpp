#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace heatpp::ml::detail {

/// The value at x, and its gradient, written. The same bits on every rank.
using Objective = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct LbfgsOptions {
  std::int64_t max_iterations = 100;
  double tol = 1e-4;            ///< ends where no number of the gradient is larger
  std::size_t memory = 10;      ///< steps of which the curvature is kept
  std::vector<double> l1 = {};  ///< l1_i |x_i| is added to the value, 0 or more for each number; empty: none
  /// Called after every iteration; false ends.
  std::function<bool(std::int64_t iteration, double value)> progress = {};
};
struct Minimum {
  double value;
  std::int64_t iterations;
  bool converged;  ///< by tol
};
/// Makes the objective small from x on, which becomes where it is least (Liu, Nocedal 1989), with steps that satisfy
/// Wolfe's conditions, near the end those that rounding leaves (Hager, Zhang 2005). With l1 steps stay in the orthant
/// that they begin in, so that numbers become 0 (OWL-QN: Andrew, Gao 2007), and `tol` is of the slope that is nearest
/// to 0. Values that are not finite count as too large. Communicates what the objective does.
Minimum lbfgs(const Objective& objective, std::vector<double>& x, const LbfgsOptions& options);

}  // namespace heatpp::ml::detail
