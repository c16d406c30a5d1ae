#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace heatpp::ml::detail {

/// Returns the value at x and writes its gradient. The same bits on every rank.
using Objective = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct LbfgsOptions {
  std::int64_t max_iterations = 100;
  double tol = 1e-4;            ///< ends if no number of the gradient is larger
  std::size_t memory = 10;      ///< steps whose curvature is kept
  std::vector<double> l1 = {};  ///< adds l1_i |x_i| to the value, l1_i >= 0; empty: none
  /// Called after every iteration; false ends the search.
  std::function<bool(std::int64_t iteration, double value)> progress = {};
};
struct Minimum {
  double value;
  std::int64_t iterations;
  bool converged;  ///< by tol
};
/// Minimizes the objective from x on, and writes the minimum to x (Liu, Nocedal 1989). Steps satisfy Wolfe's
/// conditions, near the end the approximate ones for rounding (Hager, Zhang 2005). With l1, steps stay in the orthant
/// in which they begin, so that numbers become 0 (OWL-QN: Andrew, Gao 2007), and `tol` applies to the subgradient
/// nearest to 0. Values that are not finite count as too large. Communicates what the objective does.
Minimum lbfgs(const Objective& objective, std::vector<double>& x, const LbfgsOptions& options);

}  // namespace heatpp::ml::detail
