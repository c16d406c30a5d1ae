#pragma once

#include <heatpp/ml/decomposition/nmf.hpp>
#include <heatpp/ml/detail/pieces.hpp>

// X = W H without negative numbers. Factors have a row for each component: W is (components, this rank's rows).
namespace heatpp::ml::detail {

/// The input of a factor's update: products of the other factor with itself, (k, k), and with the rows, (k, columns).
struct Normal {
  at::Tensor gram, products;
};
/// The weights of a factor's penalties.
struct Penalty {
  double l1 = 0, l2 = 0;
};
/// Updates columns of a factor once, in place, and returns the sum of the projected gradients' sizes before, or 0 for
/// the multiplicative solver. Columns are independent. Local.
double improve(NmfSolver solver, const at::Tensor& factor, const Normal& normal, const Penalty& penalty);

/// Sums all numbers and their squares. Calls f(block, first) with each block of rows in float64. Throws ValueError
/// naming the first row with a number that is negative or not finite. Collective: one all-reduce of 24 bytes.
struct Sums {
  double sum, squares;
};
[[nodiscard]] Sums checked_sums(const char* op, const Rows& x,
                                const std::function<void(const at::Tensor& block, std::int64_t first)>& f = {});

/// Both factors.
struct Factors {
  at::Tensor w, h;
};
/// Returns the first factors. Collective: as TruncatedSVD and one all-reduce of 8 (2 k + 1) bytes, none for random.
[[nodiscard]] Factors started(const Rows& x, std::int64_t count, NmfInit init, std::uint64_t seed, const Sums& sums);

}  // namespace heatpp::ml::detail
