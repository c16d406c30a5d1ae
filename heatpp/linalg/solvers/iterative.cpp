#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/matrices/norm.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/linalg/solvers/iterative.hpp>
#include <heatpp/linalg/solvers/krylov.hpp>
#include <heatpp/linalg/solvers/solve.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>

#include <cmath>

namespace heatpp::linalg {
namespace {

using detail::raise;

void check_system(const char* op, const DNDarray& a, const Shape& vector) {
  if (a.ndim() != 2 || a.shape()[0] != a.shape()[1] || vector != Shape{a.shape()[0]})
    raise<ValueError>(op, "got arrays of shapes {} and {}; expected a square matrix and a vector", to_string(a.shape()),
                      to_string(vector));
}

void sum_over(const at::Tensor& values, const DNDarray& like) {
  if (like.split()) like.comm().allreduce(detail::buffer_of(values));
}

}  // namespace

DNDarray cg(const DNDarray& a, const DNDarray& b, const CgOptions& options) {
  check_system("cg", a, b.shape());
  if (options.x0) check_system("cg", a, options.x0->shape());
  const auto dtype = detail::decomposition_type(promote_types(a.dtype(), b.dtype()));
  return solve_cg(a.astype(dtype), b,
                  {.x0 = options.x0,
                   .rtol = options.rtol.value_or(100 * detail::real_epsilon(dtype)),
                   .max_iterations = options.max_iterations})
      .x;
}

namespace {

/// This rank's part of a vector without a pattern, the same on any number of ranks: digits of sines.
at::Tensor any_vector(std::int64_t seed, const Layout& cut, int rank, const at::TensorOptions& options) {
  const auto first = cut.split() ? cut.offset(rank) : 0, count = cut.local_shape(rank)[0];
  const auto places = at::arange(first + 1, first + count + 1, at::TensorOptions().dtype(at::kDouble));
  return ((places * (12.9898 + static_cast<double>(seed))).sin() * 43758.5453).frac().to(options);
}

/// Orthonormal vectors, one after the other, and what the matrix makes of the latest.
class Krylov {
 public:
  Krylov(const DNDarray& matrix, const Layout& cut, std::int64_t m, const at::Tensor& first)
      : matrix_(matrix),
        cut_(cut),
        w_(first.clone()),
        v_(at::zeros({m, first.size(0)}, first.options())),
        t_(at::zeros({m, m}, first.options())) {}

  /// Makes vector j of w.
  void step(std::int64_t j) {
    const auto length = length_of_next(j);
    v_[j].copy_(w_ / length);
    w_ = matmul(matrix_, detail::wrap(v_[j], cut_, matrix_.comm())).larray().clone();
    t_[j][j] = straighten(j + 1);
  }
  [[nodiscard]] const at::Tensor& vectors() const { return v_; }  ///< in rows
  [[nodiscard]] const at::Tensor& t() const { return t_; }

 private:
  [[nodiscard]] double length() const { return norm(detail::wrap(w_, cut_, matrix_.comm())).item<double>(); }

  /// The length of w, in the place of which another vector comes where it is nothing but rounding.
  double length_of_next(std::int64_t j) {
    const auto n = static_cast<double>(cut_.size());
    const auto rounding = n * detail::real_epsilon(matrix_.dtype()) * at::abs(t_).max().item<double>();
    const auto found = length();
    const bool exhausted = found <= rounding;
    if (j > 0) t_[j][j - 1] = t_[j - 1][j] = exhausted ? 0 : found;
    if (!exhausted) return found;
    w_ = any_vector(j, cut_, matrix_.comm().rank(), w_.options());
    if (j > 0) straighten(j);
    return length();
  }

  /// Makes w orthogonal to the first `count` vectors, and returns its part along the last of them.
  at::Tensor straighten(std::int64_t count) {
    at::Tensor along;
    for (int pass = 0; pass < 2; ++pass) {
      const auto earlier = v_.narrow(0, 0, count);
      const auto parts = at::mv(earlier.conj(), w_).cpu();
      sum_over(parts, matrix_);
      if (pass == 0) along = parts[count - 1];
      w_.sub_(at::mv(earlier.t(), parts.to(w_.device())));
    }
    return along;
  }

  const DNDarray& matrix_;
  const Layout& cut_;
  at::Tensor w_, v_, t_;
};

}  // namespace

Lanczos lanczos(const DNDarray& a, std::int64_t m, const std::optional<DNDarray>& start) {
  check_system("lanczos", a, start ? start->shape() : Shape{a.shape().front()});
  const auto n = a.shape()[0];
  if (m < 1 || m > n) raise<ValueError>("lanczos", "got m {}; expected 1 to {}", m, n);
  const auto dtype = detail::decomposition_type(a.dtype());
  const auto matrix = a.split() ? detail::cut_along(a.astype(dtype), 0) : a.astype(dtype);
  const auto cut = matrix.layout().with({n}, matrix.split());
  const auto first = start ? detail::relayout_operand("lanczos", start->astype(dtype), cut, a.comm())
                           : at::ones(cut.local_shape(a.comm().rank()), matrix.larray().options());
  Krylov krylov(matrix, cut, m, first);
  for (std::int64_t j = 0; j < m; ++j) krylov.step(j);
  const auto columns = matrix.layout().with({n, m}, matrix.split());
  return {detail::wrap(krylov.vectors().t().contiguous(), columns, a.comm()), detail::replicated(krylov.t(), a.comm())};
}

DNDarray matrix_exp(const DNDarray& a) {
  detail::check_matrices("matrix_exp", a, true);
  const auto matrix = detail::decomposable(a);
  if (detail::is_local(matrix)) return detail::stack_like(matrix, at::linalg_matrix_exp(matrix.larray()));
  const auto size = matrix_norm(matrix, {.ord = 1}).item<double>();
  const auto squarings = size > 1 ? static_cast<int>(std::ceil(std::log2(size))) : 0;
  const auto x = matrix * std::exp2(-squarings);
  const auto one = matrix_power(x, 0), x2 = matmul(x, x), x4 = matmul(x2, x2), x6 = matmul(x4, x2);
  const auto odd = matmul(x, x6 + x4 * 1512.0 + x2 * 277200.0 + one * 8648640.0);
  const auto even = x6 * 56.0 + x4 * 25200.0 + x2 * 1995840.0 + one * 17297280.0;
  auto result = solve(even - odd, even + odd);
  for (int i = 0; i < squarings; ++i) result = matmul(result, result);
  return detail::brought_to(result, a.layout());
}

}  // namespace heatpp::linalg
