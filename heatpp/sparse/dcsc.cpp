#include <heatpp/sparse/dcsc.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/sparse/detail/entry_lines.hpp>

#include <ostream>

namespace heatpp::sparse {

using heatpp::detail::raise;

namespace {

/// Returns the axis of the transposed matrix.
std::optional<int> other(const char* op, std::optional<int> axis) {
  return axis ? std::optional(1 - sanitize_axis(*axis, 2, op)) : std::nullopt;
}

DNDarray conjugated(const DNDarray& x) { return is_complex(x.dtype()) ? heatpp::conj(x) : x; }

std::vector<DCSRMatrix> transposed(const std::vector<DCSCMatrix>& matrices) {
  std::vector<DCSRMatrix> of_rows;
  for (const auto& a : matrices) of_rows.push_back(a.transposed());
  return of_rows;
}

}  // namespace

Layout DCSCMatrix::layout() const {
  const auto& of_rows = transposed_.layout();
  if (!of_rows.split()) return of_rows.replicated(shape());
  return of_rows.with(shape(), 1);
}

DCSCMatrix::operator linalg::LinearOperator() const {
  return {shape(), [a = *this](const DNDarray& x) { return matmul(a, x); },
          [a = *this](const DNDarray& x) { return rmatmul(a, x); }, dtype()};
}

DCSCMatrix to_csc(const DNDarray& x) {
  if (x.ndim() != 2) raise<ValueError>("to_csc", "got shape {}; expected two axes", heatpp::to_string(x.shape()));
  return DCSCMatrix(from_dense(heatpp::transpose(x)));
}

DCSCMatrix from_local_csc(const CscArrays& arrays, std::int64_t rows, const LocalOptions& options) {
  all_or_none(comm_of(options.comm), [&] {
    if (options.split && *options.split != 1 && *options.split != -1)
      raise<ValueError>("from_local_csc", "got split {}; expected columns, 1, or none", *options.split);
  });
  auto by_rows = options;
  if (by_rows.split) by_rows.split = 0;
  return DCSCMatrix(from_local({arrays.column_ptr, arrays.rows, arrays.values, arrays.dtype}, rows, by_rows));
}

DNDarray to_dense(const DCSCMatrix& a) { return heatpp::transpose(to_dense(a.transposed())); }
Coo to_coo(const DCSCMatrix& a) {
  const auto coo = to_coo(a.transposed());
  return {coo.columns, coo.rows, coo.values, a.shape()};
}

DCSCMatrix resplit(const DCSCMatrix& a, std::optional<int> split) {
  if (split && *split != 1 && *split != -1)
    raise<ValueError>("resplit", "got split {}; expected columns, 1, or none", *split);
  return DCSCMatrix(resplit(a.transposed(), split ? std::optional(0) : std::nullopt));
}

std::string to_string(const DCSCMatrix& a) { return detail::matrix_text("DCSCMatrix", a.split(), to_coo(a)); }
std::ostream& operator<<(std::ostream& out, const DCSCMatrix& a) { return out << to_string(a); }

DNDarray matmul(const DCSCMatrix& a, const DNDarray& x) { return conjugated(rmatmul(a.transposed(), conjugated(x))); }
DNDarray rmatmul(const DCSCMatrix& a, const DNDarray& x) { return conjugated(matmul(a.transposed(), conjugated(x))); }
DCSCMatrix matmul(const DCSCMatrix& a, const DCSCMatrix& b) {
  return DCSCMatrix(matmul(b.transposed(), a.transposed()));
}

DCSCMatrix vstack(const std::vector<DCSCMatrix>& matrices) { return DCSCMatrix(hstack(transposed(matrices))); }
DCSCMatrix hstack(const std::vector<DCSCMatrix>& matrices) { return DCSCMatrix(vstack(transposed(matrices))); }
DCSCMatrix block_diag(const std::vector<DCSCMatrix>& matrices) { return DCSCMatrix(block_diag(transposed(matrices))); }

DNDarray sum(const DCSCMatrix& a, std::optional<int> axis) { return sum(a.transposed(), other("sum", axis)); }
DNDarray mean(const DCSCMatrix& a, std::optional<int> axis) { return mean(a.transposed(), other("mean", axis)); }
DNDarray max(const DCSCMatrix& a, std::optional<int> axis) { return max(a.transposed(), other("max", axis)); }
DNDarray min(const DCSCMatrix& a, std::optional<int> axis) { return min(a.transposed(), other("min", axis)); }

}  // namespace heatpp::sparse
