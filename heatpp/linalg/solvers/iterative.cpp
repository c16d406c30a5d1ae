#include <heatpp/linalg/solvers/iterative.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/matrices/norm.hpp>
#include <heatpp/linalg/products/product.hpp>
#include <heatpp/linalg/solvers/detail/lanczos.hpp>
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

}  // namespace

DNDarray cg(const DNDarray& a, const DNDarray& b, const CgOptions& options) {
  check_system("cg", a, b.shape());
  if (options.x0) check_system("cg", a, options.x0->shape());
  const auto dtype = detail::decomposition_type(promote_types(a.dtype(), b.dtype()));
  return solve_cg(a.astype(dtype), detail::one_cut("cg", b),
                  {.x0 = options.x0,
                   .rtol = options.rtol.value_or(100 * detail::real_epsilon(dtype)),
                   .max_iterations = options.max_iterations})
      .x;
}

Lanczos lanczos(const DNDarray& a, std::int64_t m, const std::optional<DNDarray>& start) {
  check_system("lanczos", a, start ? start->shape() : Shape{a.shape().front()});
  const auto n = a.shape()[0];
  if (m < 1 || m > n) raise<ValueError>("lanczos", "got m {}; expected 1 to {}", m, n);
  const auto dtype = detail::decomposition_type(a.dtype());
  const auto given = detail::one_cut("lanczos", a).astype(dtype);
  const auto matrix = given.split() ? detail::cut_along(given, 0) : given;
  const auto cut = matrix.layout().with({n}, matrix.split());
  const auto first = start ? detail::relayout_operand("lanczos", start->astype(dtype), cut, a.comm())
                           : at::ones(cut.local_shape(a.comm().rank()), matrix.larray().options());
  const auto type = first.options();
  const auto wide = type.dtype(first.is_complex() ? at::kComplexDouble : at::kDouble);
  const auto product = [&](const at::Tensor& v) {
    return matmul(matrix, detail::wrap(v.to(type), cut, a.comm())).larray().to(wide, false, true);
  };
  detail::LanczosProcess process(product, detail::Orthonormal("lanczos", cut, a.comm(), wide, m),
                                 detail::real_epsilon(dtype));
  process.start(first.to(wide));
  while (!process.full()) process.step();
  const auto columns = matrix.layout().with({n, m}, matrix.split());
  return {detail::wrap(process.vectors().rows().t().contiguous().to(type), columns, a.comm()),
          detail::replicated(process.t().to(type), a.comm())};
}

DNDarray matrix_exp(const DNDarray& array) {
  const auto a = detail::one_cut("matrix_exp", array);
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
