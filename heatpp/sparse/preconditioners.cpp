#include <heatpp/sparse/preconditioners.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/sparse/detail/structure.hpp>
#include <heatpp/sparse/elementwise.hpp>

#include <ATen/Dispatch.h>

namespace heatpp::sparse {

using namespace detail;

namespace {

/// Returns this rank's block on the diagonal, with columns counted from its first, in a floating dtype.
CsrBlock own_block(const DCSRMatrix& a) {
  const auto& block = block_of(a);
  const auto first = first_row(a);
  auto own = filtered(
      block, [=](auto, std::int64_t column, auto) { return column >= first && column < first + block.rows(); });
  own.columns = own.columns.to(at::kLong) - first;
  const bool inexact = is_floating(a.dtype()) || is_complex(a.dtype());
  own.values = own.values.to(inexact ? own.values.scalar_type() : at::kDouble).clone();
  return own;
}

/// Returns the place of each row's diagonal entry. Throws if one is missing.
std::vector<std::int64_t> diagonal_places(const char* op, const CsrBlock& block, std::int64_t first) {
  const auto* const column = block.columns.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> places;
  for (std::int64_t row = 0; row < block.rows(); ++row) {
    const auto* const found = std::lower_bound(column + block.ptr()[row], column + block.ptr()[row + 1], row);
    if (found == column + block.ptr()[row + 1] || *found != row)
      raise<ValueError>(op, "got no entry on the diagonal of row {}; expected one in every row", first + row);
    places.push_back(found - column);
  }
  return places;
}

/// Replaces the block's entries by L and U, row by row; L has ones on its diagonal.
template <class T>
void factorise(const CsrBlock& block, const std::vector<std::int64_t>& diagonal, std::int64_t first) {
  const auto* const ptr = block.ptr();
  const auto* const column = block.columns.const_data_ptr<std::int64_t>();
  auto* const value = block.values.mutable_data_ptr<T>();
  std::vector<std::int64_t> place(static_cast<std::size_t>(block.rows()), -1);  // places of this row's entries
  for (std::int64_t row = 0; row < block.rows(); ++row) {
    for (auto i = ptr[row]; i < ptr[row + 1]; ++i) place[static_cast<std::size_t>(column[i])] = i;
    for (auto i = ptr[row]; i < ptr[row + 1] && column[i] < row; ++i) {
      const auto above = static_cast<std::size_t>(column[i]);
      value[i] /= value[diagonal[above]];
      for (auto j = diagonal[above] + 1; j < ptr[above + 1]; ++j)
        if (const auto to = place[static_cast<std::size_t>(column[j])]; to >= 0) value[to] -= value[i] * value[j];
    }
    if (value[diagonal[static_cast<std::size_t>(row)]] == T(0))
      raise<ValueError>("block_ilu", "got the pivot 0 in row {}; expected factors without one", first + row);
    for (auto i = ptr[row]; i < ptr[row + 1]; ++i) place[static_cast<std::size_t>(column[i])] = -1;
  }
}

template <class T>
void substitute(const CsrBlock& block, const std::vector<std::int64_t>& diagonal, T* x) {
  const auto* const ptr = block.ptr();
  const auto* const column = block.columns.const_data_ptr<std::int64_t>();
  const auto* const value = block.values.const_data_ptr<T>();
  for (std::int64_t row = 0; row < block.rows(); ++row)
    for (auto i = ptr[row]; i < diagonal[static_cast<std::size_t>(row)]; ++i) x[row] -= value[i] * x[column[i]];
  for (auto row = block.rows() - 1; row >= 0; --row) {
    const auto d = diagonal[static_cast<std::size_t>(row)];
    for (auto i = d + 1; i < ptr[row + 1]; ++i) x[row] -= value[i] * x[column[i]];
    x[row] /= value[d];
  }
}

/// Return the real part and the conjugate of a number; real numbers are their own.
template <class T>
auto real_part(T x) {
  if constexpr (c10::is_complex<T>::value) return x.real();
  else return x;
}
template <class T>
T conjugate(T x) {
  if constexpr (c10::is_complex<T>::value) return std::conj(x);
  else return x;
}

/// Computes L with L L^H approximately the block with this lower triangle, row by row, its diagonal last and times 1 +
/// shift. Returns false if a pivot is not above 0.
template <class T>
bool factorise_symmetric(const CsrBlock& lower, double shift) {
  const auto* const ptr = lower.ptr();
  const auto* const column = lower.columns.const_data_ptr<std::int64_t>();
  auto* const value = lower.values.mutable_data_ptr<T>();
  using Real = decltype(real_part(T()));
  for (std::int64_t row = 0; row < lower.rows(); ++row) {
    const auto end = ptr[row + 1] - 1;
    auto pivot = real_part(value[end]) * static_cast<Real>(1 + shift);
    for (auto i = ptr[row]; i < end; ++i) {
      const auto above = column[i];
      // These are the products of the entries that both rows have before this one.
      for (auto j = ptr[row], k = ptr[above]; j < i && k < ptr[above + 1] - 1;) {
        if (column[j] == column[k]) value[i] -= value[j] * conjugate(value[k]);
        const bool step = column[j] <= column[k];
        k += column[k] <= column[j];
        j += step;
      }
      value[i] /= value[ptr[above + 1] - 1];
      pivot -= real_part(value[i] * conjugate(value[i]));
    }
    if (!(pivot > 0)) return false;
    value[end] = std::sqrt(pivot);
  }
  return true;
}

/// Returns the factor for the least shift of 0, 1e-3, 2e-3, 4e-3, ... with all pivots above 0.
CsrBlock shifted_factor(const CsrBlock& lower, std::int64_t first) {
  constexpr double least = 1e-3, most = 1e3;
  auto factor = lower;
  for (double shift = 0; shift < most; shift = std::max(least, 2 * shift)) {
    factor.values = lower.values.clone();
    const bool done = AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(
        lower.values.scalar_type(), "block_ic", [&] { return factorise_symmetric<scalar_t>(factor, shift); });
    if (done) return factor;
  }
  raise<ValueError>("block_ic", "got rows from {} without factors under shifts up to {}; expected a diagonal above 0",
                    first, most);
}

/// Replaces x by L^-H L^-1 x.
template <class T>
void substitute_symmetric(const CsrBlock& lower, T* x) {
  const auto* const ptr = lower.ptr();
  const auto* const column = lower.columns.const_data_ptr<std::int64_t>();
  const auto* const value = lower.values.const_data_ptr<T>();
  for (std::int64_t row = 0; row < lower.rows(); ++row) {
    const auto end = ptr[row + 1] - 1;
    for (auto i = ptr[row]; i < end; ++i) x[row] -= value[i] * x[column[i]];
    x[row] /= value[end];
  }
  for (auto row = lower.rows() - 1; row >= 0; --row) {
    const auto end = ptr[row + 1] - 1;
    x[row] /= value[end];
    for (auto i = ptr[row]; i < end; ++i) x[column[i]] -= conjugate(value[i]) * x[row];
  }
}

/// Makes the operator that solves in each rank's block, if the vector is cut as the matrix: substitute(x) works in
/// place of a tensor of this type.
template <class F>
linalg::LinearOperator solved_in_blocks(const DCSRMatrix& a, at::ScalarType type, F substituted) {
  return {a.shape(), [=, layout = a.layout().with({a.rows()}, a.split()), comm = a.comm()](const DNDarray& x) {
            auto y = heatpp::detail::relayout(x, layout).to(at::kCPU, type, false, true).contiguous();
            substituted(y);
            return heatpp::detail::wrap(y, layout, comm);
          }};
}

}  // namespace

linalg::LinearOperator jacobi(const DCSRMatrix& a) {
  check_square("jacobi", a);
  const auto of = diagonal(a);
  if (of.size() > 0 && any(of == 0).item<bool>()) raise<ValueError>("jacobi", "got a diagonal with a 0; expected none");
  const auto inverse = 1.0 / of;
  return {a.shape(), [inverse](const DNDarray& x) { return inverse * x; },
          [inverse](const DNDarray& x) { return heatpp::conj(inverse) * x; }};
}

linalg::LinearOperator block_ilu(const DCSRMatrix& a) {
  check_square("block_ilu", a);
  const auto first = first_row(a);
  CsrBlock factors;
  std::vector<std::int64_t> diagonal;
  all_or_none(a.comm(), [&] {
    factors = own_block(a);
    diagonal = diagonal_places("block_ilu", factors, first);
    AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(factors.values.scalar_type(), "block_ilu",
                                           [&] { factorise<scalar_t>(factors, diagonal, first); });
  });
  const auto type = factors.values.scalar_type();
  return solved_in_blocks(a, type, [=](at::Tensor& y) {
    AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(type, "block_ilu",
                                           [&] { substitute(factors, diagonal, y.data_ptr<scalar_t>()); });
  });
}

linalg::LinearOperator block_ic(const DCSRMatrix& a) {
  check_square("block_ic", a);
  const auto first = first_row(a);
  CsrBlock factor;
  all_or_none(a.comm(), [&] {
    const auto own = own_block(a);
    (void)diagonal_places("block_ic", own, first);
    factor =
        shifted_factor(filtered(own, [](std::int64_t row, std::int64_t column, auto) { return column <= row; }), first);
  });
  const auto type = factor.values.scalar_type();
  return solved_in_blocks(a, type, [=](at::Tensor& y) {
    AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(type, "block_ic",
                                           [&] { substitute_symmetric(factor, y.data_ptr<scalar_t>()); });
  });
}

}  // namespace heatpp::sparse
