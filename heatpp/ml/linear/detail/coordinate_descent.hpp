#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::ml::detail {

/// A least-squares problem in products: w'Qw / 2 - b'w + yy / 2 + l1 |w|_1 + l2 |w|^2 / 2.
struct Quadratic {
  at::Tensor q;  ///< (features, features), float64, symmetric
  at::Tensor b;  ///< (features,), contiguous
  double yy;     ///< the product of the target with itself
};
struct Penalties {
  double l1, l2;
};
struct DescentOptions {
  std::int64_t max_iterations = 1000;
  double tol = 1e-4;  ///< ends if the duality gap is at most this times yy; 0: after max_iterations
  bool positive = false;
};
struct Descended {
  double gap;  ///< between the objective and its dual: a bound for the distance from the minimum
  std::int64_t iterations;
  bool converged;
};
/// Runs cyclic coordinate descent from `w`, which becomes the solution (Friedman, Hastie, Tibshirani 2010); tests the
/// gap of Kim, Koh, Lustig, Boyd, Gorinevsky 2007 if a sweep changes no coordinate by more than tol times the largest.
/// Local.
Descended coordinate_descent(const Quadratic& problem, const Penalties& penalties, const DescentOptions& options,
                             std::span<double> w);

}  // namespace heatpp::ml::detail
