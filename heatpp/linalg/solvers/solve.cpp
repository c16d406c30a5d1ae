#include <heatpp/linalg/solvers/solve.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/linalg/solvers/detail/eliminate.hpp>
#include <heatpp/linalg/solvers/detail/grid_factor.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <algorithm>
#include <array>

namespace heatpp::linalg {
namespace {

using detail::Columns;
using detail::cut_along;
using detail::decomposable;
using detail::eliminate;
using detail::is_local;
using detail::raise;

/// Whether this rank's `block` of a matrix and those of the others are finite. Throws if they are and a pivot is 0.
bool check_regular(const char* op, const at::Tensor& block, const at::Tensor& pivots, const Communicator& comm) {
  std::array<std::int64_t, 2> flaws{pivots.eq(0).sum().item<std::int64_t>(), !at::isfinite(block).all().item<bool>()};
  comm.allreduce(flaws);
  if (flaws[1] > 0) return false;
  if (flaws[0] > 0) raise<LinAlgError>(op, "got a singular matrix; expected a regular one");
  return true;
}

/// Returns right sides in whole columns; a column with elements that are not finite becomes NaN.
at::Tensor spoiled_columns(const at::Tensor& b) {
  return at::where(at::isfinite(b).all(b.dim() == 1 ? 0 : -2, /*keepdim=*/true), b, NAN);
}

/// Solves a x = b on blocks of whole matrices. Throws on all ranks if one is singular.
DNDarray solve_locally(const char* op, const DNDarray& a, const DNDarray& b, bool left_is_stack) {
  auto finite = detail::finite_matrices(a.larray());
  const auto [x, info] = at::linalg_solve_ex(at::where(finite, a.larray(), NAN), spoiled_columns(b.larray()));
  std::array<std::int64_t, 1> singular{info.ne(0).logical_and(finite.squeeze(-1).squeeze(-1)).any().item<bool>()};
  if (a.split() || b.split()) a.comm().allreduce(singular, ReduceOp::max);
  if (singular[0]) raise<LinAlgError>(op, "got a singular matrix; expected a regular one");
  if (b.ndim() == 1) finite = finite.squeeze(-1);
  return detail::stack_like(left_is_stack ? a : b, at::where(finite, x, NAN));
}

bool same_stack(const DNDarray& a, const DNDarray& b) {
  return std::equal(a.shape().begin(), a.shape().end() - 2, b.shape().begin(), b.shape().end() - 2);
}

void check_right_side(const char* op, const DNDarray& a, const DNDarray& b) {
  detail::check_same_comm(op, a.comm(), b.comm());
  detail::check_same_device(op, a, b);
  const auto n = a.shape().back();
  const bool vector = b.ndim() == 1;
  const auto rows = vector ? b.shape()[0] : b.ndim() >= 2 ? b.shape()[b.shape().size() - 2] : -1;
  if (rows != n || (vector && a.ndim() > 2) || (!vector && b.ndim() != a.ndim()) ||
      !std::equal(a.shape().begin(), a.shape().end() - 2, b.shape().begin()))
    raise<ValueError>(op, "got arrays of shapes {} and {}; expected matrices and as many rows of right sides",
                      to_string(a.shape()), to_string(b.shape()));
}

/// Cuts `b` as the matrices of `a`.
DNDarray meeting(const char* op, const DNDarray& a, const DNDarray& b) {
  const auto target = a.layout().with(b.shape(), a.split());
  return detail::wrap(detail::relayout_operand(op, b, target, a.comm()), target, b.comm());
}

/// Cuts both along the same leading axis, or neither.
std::pair<DNDarray, DNDarray> stacks(const char* op, const DNDarray& a, const DNDarray& b) {
  const auto right = b.ndim() > 2 ? decomposable(b) : b;
  const auto matrices = !a.split() && right.split() ? meeting(op, right, a) : a;
  return {matrices, meeting(op, matrices, right)};
}

/// Broadcasts the leading axes of both.
std::pair<DNDarray, DNDarray> broadcast_stacks(const char* op, const DNDarray& a, const DNDarray& b) {
  const auto batch =
      broadcast_shapes({a.shape().begin(), a.shape().end() - 2}, {b.shape().begin(), b.shape().end() - 2}, op);
  const auto stretched = [&](const DNDarray& x) {
    auto shape = batch;
    shape.insert(shape.end(), x.shape().end() - 2, x.shape().end());
    return broadcast_to(x, shape);
  };
  return {stretched(a), stretched(b)};
}

DNDarray as_matrix(const DNDarray& b) {
  if (b.ndim() != 1) return b;
  return detail::wrap(b.larray().unsqueeze(1), b.layout().along({b.size(), 1}, std::array{0, -1}), b.comm());
}

/// Restores the axes of `b`.
DNDarray as_right_side(const DNDarray& x, const DNDarray& b) { return b.ndim() == 1 ? squeeze(x, 1) : x; }

/// Solves a x = b; errors name `op`.
DNDarray solved(const char* op, const DNDarray& left_side, const DNDarray& right_side) {
  const auto a = detail::one_cut(op, left_side), b = detail::one_cut(op, right_side);
  detail::check_matrices(op, a, true);
  if (b.ndim() > 0 && (a.ndim() > 2 || b.ndim() > 2) && (b.ndim() != a.ndim() || !same_stack(a, b))) {
    const auto [left, right] = broadcast_stacks(op, a, b.ndim() == 1 ? expand_dims(b, 1) : b);
    const auto x = solved(op, left, right);
    return b.ndim() == 1 ? squeeze(x, -1) : x;
  }
  check_right_side(op, a, b);
  const auto dtype = detail::decomposition_type(promote_types(a.dtype(), b.dtype()));
  const auto matrix = decomposable(a.astype(dtype));
  auto right = b.astype(dtype);
  if (a.ndim() > 2 || (!a.split() && !b.split())) {
    const auto [left, sides] = stacks(op, matrix, right);
    return solve_locally(op, left, sides, true);
  }
  right = as_matrix(right);
  if (!a.split()) {  // every rank has the matrix and solves for its right sides
    return as_right_side(solve_locally(op, matrix, cut_along(right, 1), false), b);
  }
  Columns triangle(matrix), sides(right);
  sides.block().copy_(spoiled_columns(sides.block()));
  eliminate(triangle, &sides);
  const bool finite = check_regular(op, matrix.larray(), detail::upper_diagonal(triangle), a.comm());
  const auto x = solve_triangular(triangle.array(), sides.array(), {.upper = true});
  if (!finite) x.larray().fill_(NAN);
  return as_right_side(x, b);
}

DNDarray inverse(const char* op, const DNDarray& a) {
  if (a.layout().is_grid()) return detail::brought_to(inverse(op, detail::one_cut(op, a)), a.layout());
  detail::check_matrices(op, a, true);
  const auto matrix = decomposable(a);
  if (is_local(matrix)) {
    const auto n = a.shape().back();
    const auto ones = at::eye(n, matrix.larray().options()).expand_as(matrix.larray());
    return solve_locally(op, matrix, detail::wrap(ones, matrix.layout(), a.comm()), true);
  }
  const auto identity =
      eye(a.shape()[0], std::nullopt, {.dtype = matrix.dtype(), .split = 1, .device = a.device(), .comm = a.comm()});
  const auto x = solved(op, matrix, identity);
  return detail::brought_to(x, a.layout());
}

}  // namespace

DNDarray solve(const DNDarray& a, const DNDarray& b) { return solved("solve", a, b); }

DNDarray solve_triangular(const DNDarray& triangle, const DNDarray& right_side, const TriangularOptions& options) {
  detail::check_matrices("solve_triangular", triangle, true);
  check_right_side("solve_triangular", triangle, right_side);
  const auto dtype = detail::decomposition_type(promote_types(triangle.dtype(), right_side.dtype()));
  if (detail::is_on_grid(triangle)) {
    const auto x =
        detail::solve_triangular_on_grid(triangle.astype(dtype), as_matrix(right_side.astype(dtype)), options);
    return as_right_side(x, right_side);
  }
  const auto a = detail::one_cut("solve_triangular", triangle), b = detail::one_cut("solve_triangular", right_side);
  const auto solved = [&](const at::Tensor& matrix, const at::Tensor& right) {
    return at::linalg_solve_triangular(matrix, right, options.upper, /*left=*/true, options.unit_diagonal);
  };
  auto matrix = decomposable(a.astype(dtype));
  auto right = as_matrix(b.astype(dtype));
  if (a.ndim() > 2 || (!a.split() && !b.split())) {
    const auto [left, sides] = stacks("solve_triangular", matrix, right);
    return as_right_side(detail::stack_like(left, solved(left.larray(), sides.larray())), b);
  }
  matrix = cut_along(matrix, 0);
  const auto& cut = matrix.layout();
  // If `a` itself is recut, `b` can fit in no layout.
  if (a.split() == 0) right = meeting("solve_triangular", matrix, right);
  else right = detail::brought_to(right, cut.with(right.shape(), 0));
  const auto& comm = a.comm();
  auto x = right.larray().clone(at::MemoryFormat::Contiguous);
  for (int step = 0; step < comm.size(); ++step) {
    const auto owner = options.upper ? comm.size() - 1 - step : step;
    const bool mine = owner == comm.rank(), later = options.upper ? comm.rank() < owner : comm.rank() > owner;
    const auto columns = matrix.larray().narrow(1, cut.offset(owner), cut.count(owner));
    if (mine) x = solved(columns, x).contiguous();
    const auto part = mine ? x.cpu() : at::empty({cut.count(owner), x.size(1)}, x.options().device(at::kCPU));
    comm.broadcast(detail::buffer_of(part), owner);
    if (later) x.addmm_(columns, part.to(x.device()), 1, -1);
  }
  return as_right_side(detail::wrap(std::move(x), right.layout(), comm), b);
}

DNDarray inv(const DNDarray& a) { return inverse("inv", a); }

DNDarray tensorsolve(const DNDarray& left_side, const DNDarray& right_side, const std::vector<int>& axes) {
  const auto a = detail::one_cut("tensorsolve", left_side), b = detail::one_cut("tensorsolve", right_side);
  if (!axes.empty()) {
    auto order = axes;
    for (auto& axis : order) axis = sanitize_axis(axis, a.ndim(), "tensorsolve");
    for (int axis = a.ndim() - 1; axis >= 0; --axis)
      if (std::ranges::find(order, axis) == order.end()) order.insert(order.begin(), axis);
    return tensorsolve(transpose(a, order), b);
  }
  const auto rows = b.shape().size();
  if (a.shape().size() < rows || !std::equal(b.shape().begin(), b.shape().end(), a.shape().begin()) ||
      a.size() != b.size() * b.size())
    raise<ValueError>("tensorsolve", "got arrays of shapes {} and {}; expected axes that make a square matrix",
                      to_string(a.shape()), to_string(b.shape()));
  const Shape rest(a.shape().begin() + static_cast<std::ptrdiff_t>(rows), a.shape().end());
  return reshape(solved("tensorsolve", reshape(a, {b.size(), b.size()}), flatten(b)), rest);
}

DNDarray tensorinv(const DNDarray& array, int ind) {
  const auto a = detail::one_cut("tensorinv", array);
  if (ind < 1 || ind > a.ndim())
    raise<ValueError>("tensorinv", "got ind {} for an array of shape {}; expected 1 to {}", ind, to_string(a.shape()),
                      a.ndim());
  const Shape first(a.shape().begin(), a.shape().begin() + ind), last(a.shape().begin() + ind, a.shape().end());
  auto shape = last;
  shape.insert(shape.end(), first.begin(), first.end());
  return reshape(inverse("tensorinv", reshape(a, {size_of(first), size_of(last)})), shape);
}

namespace {

/// Returns the signs of pivots. As in NumPy, a real one that is NaN counts as positive.
at::Tensor signs(const at::Tensor& pivots) {
  return pivots.is_complex() ? pivots.sgn() : at::where(pivots.isnan(), at::ones({}, pivots.options()), pivots.sgn());
}

/// Returns the sum of the logarithms; if any pivot is 0, the logarithm of 0.
at::Tensor log_beside(const at::Tensor& log, const at::Tensor& sign) { return log.masked_fill(sign == 0, -INFINITY); }

/// Sums in float64, so that the logarithm determines the determinant.
at::Tensor sum_of_logs(const at::Tensor& pivots) { return pivots.abs().to(at::kDouble).log().sum(-1); }

/// Returns the logarithm in float64.
SignAndLog wide_slogdet(const char* op, const DNDarray& array) {
  const auto a = detail::one_cut(op, array);
  detail::check_matrices(op, a, true);
  const auto matrix = decomposable(a);
  // LAPACK's factors show elements that are not finite, those of GPU libraries do not.
  if (is_local(matrix) && matrix.device() != cpu && !at::isfinite(matrix.larray()).all().item<bool>()) {
    const auto [sign, log] = wide_slogdet(op, a.to_device(cpu));
    return {sign.to_device(a.device()), log.to_device(a.device())};
  }
  if (is_local(matrix)) {
    const auto [factors, rows, info] = at::linalg_lu_factor_ex(matrix.larray());
    const auto pivots = factors.diagonal(0, -2, -1);
    const auto moved = (rows != at::arange(1, rows.size(-1) + 1, rows.options())).sum(-1);
    const auto sign = signs(pivots).prod(-1) * (1 - moved % 2 * 2);
    return {detail::stack_like(matrix, sign), detail::stack_like(matrix, log_beside(sum_of_logs(pivots), sign))};
  }
  Columns columns(matrix);
  const auto swaps = eliminate(columns, nullptr);
  const auto pivots = detail::upper_diagonal(columns);
  const auto log = sum_of_logs(pivots).cpu(), sign = signs(pivots).prod().cpu();
  a.comm().allreduce(detail::buffer_of(log));
  a.comm().allreduce(detail::buffer_of(sign), ReduceOp::prod);
  const auto everywhere = [&](const at::Tensor& x) { return detail::replicated(x.to(pivots.device()), a.comm()); };
  return {everywhere(sign * swaps), everywhere(log_beside(log, sign))};
}

}  // namespace

SignAndLog slogdet(const DNDarray& a) {
  const auto [sign, log] = wide_slogdet("slogdet", a);
  return {sign, log.astype(real_type(sign.dtype()))};
}

DNDarray det(const DNDarray& a) {
  const auto [sign, log] = wide_slogdet("det", a);
  return (sign * exp(log)).astype(sign.dtype());
}

DNDarray matrix_power(const DNDarray& a, std::int64_t n) {
  detail::check_matrices("matrix_power", a, true);
  if (n < 0) return matrix_power(inverse("matrix_power", a), -n);
  auto square = a;
  std::optional<DNDarray> power;
  for (; n > 0; n /= 2) {
    if (n % 2) power = power ? matmul(*power, square) : square;
    if (n > 1) square = matmul(square, square);
  }
  if (power) return *power;
  const auto origin = a.layout().local_offset(a.comm().rank());
  auto block = at::zeros(a.larray().sizes(), a.larray().options());
  block.diagonal(origin.end()[-2] - origin.back(), -2, -1).fill_(1);
  return detail::wrap(std::move(block), a.layout(), a.comm());
}

}  // namespace heatpp::linalg
