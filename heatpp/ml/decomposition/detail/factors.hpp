#pragma once

#include <heatpp/ml/decomposition/nmf.hpp>
#include <heatpp/ml/detail/pieces.hpp>

// X = W H without negative numbers. Factors have a row for each component: W is (components, this rank's rows).
namespace heatpp::ml::detail {

/// What a factor is improved with: products of the other one with itself, (k, k), and with the rows, (k, columns).
struct Normal {
  at::Tensor gram, products;
};
/// How much a factor is penalised.
struct Penalty {
  double l1 = 0, l2 = 0;
};
/// Improves columns of a factor once, in place, and returns the sizes of the projected gradients before, of the
/// multiplicative solver 0. Columns do not depend on each other. Local.
double improve(NmfSolver solver, const at::Tensor& factor, const Normal& normal, const Penalty& penalty);

/// The sum of all numbers and of their squares. Throws ValueError naming the first row with a number that is negative
/// or not finite. f(block, first) is called with each block of rows in float64. Collective: one all-reduce of 24 bytes.
struct Sums {
  double sum, squares;
};
[[nodiscard]] Sums checked_sums(const char* op, const Rows& x,
                                const std::function<void(const at::Tensor& block, std::int64_t first)>& f = {});

/// Both factors.
struct Factors {
  at::Tensor w, h;
};
/// Where they start. Collective: as TruncatedSVD and one all-reduce of 8 (2 k + 1) bytes, nothing for random.
[[nodiscard]] Factors started(const Rows& x, std::int64_t count, NmfInit init, std::uint64_t seed, const Sums& sums);

}  // namespace heatpp::ml::detail
