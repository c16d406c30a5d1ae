#include <heatpp/linalg/solvers/operator.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

namespace heatpp::linalg {
namespace {

/// Returns the layout of the rows' vectors: cut as the rows, or evenly if columns are cut.
Layout rows_of(const DNDarray& matrix) {
  const Shape rows{matrix.shape()[0]};
  if (matrix.layout().is_grid() || matrix.split() == 1) return {rows, 0, matrix.comm().size()};
  return matrix.layout().with(rows, matrix.split());
}

}  // namespace

LinearOperator::LinearOperator(const DNDarray& matrix)
    : shape(matrix.shape()),
      apply([matrix](const DNDarray& x) { return matmul(matrix, x); }),
      apply_adjoint([matrix](const DNDarray& x) { return matmul(conj(transpose(matrix)), x); }),
      dtype(matrix.dtype()),
      of_matrices(true) {
  if (matrix.ndim() != 2)
    detail::raise<ValueError>("LinearOperator", "got an array of shape {}; expected a matrix",
                              to_string(matrix.shape()));
  cut = VectorCut{rows_of(matrix), matrix.comm(), matrix.device()};
}

}  // namespace heatpp::linalg
