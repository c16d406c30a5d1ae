#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/solvers/detail/spectral.hpp>

#include <cmath>

namespace heatpp::linalg {
namespace {

using detail::raise;
using detail::WideVectors;

at::Tensor conjugate_rows(const at::Tensor& x) { return x.conj().resolve_conj().t(); }

/// Directions, and the products of the operator with them.
struct Block {
  at::Tensor x, ax;
  [[nodiscard]] std::int64_t size() const { return x.defined() ? x.size(1) : 0; }
  [[nodiscard]] Block times(const at::Tensor& c) const { return {at::mm(x, c), at::mm(ax, c)}; }
};
Block beside(const std::vector<Block>& blocks) {
  std::vector<at::Tensor> x, ax;
  for (const auto& block : blocks)
    if (block.size() > 0) x.push_back(block.x), ax.push_back(block.ax);
  return {at::cat(x, 1), at::cat(ax, 1)};
}

/// Returns combinations that make vectors of this Gram matrix orthonormal, as many as are independent.
at::Tensor orthonormalising(const at::Tensor& gram) {
  const auto squares = at::real(gram.diagonal());
  const auto scale = at::where(squares.gt(0), squares.abs().rsqrt(), at::zeros({}, squares.options()));
  const auto [weights, q] = at::linalg_eigh(gram * scale * scale.unsqueeze(1));
  const auto used = weights.gt(1e-12).nonzero().flatten();
  return q.index_select(1, used) * weights.index_select(0, used).rsqrt() * scale.unsqueeze(1);
}

/// Returns columns w as orthonormal ones that are also orthogonal to those of q; fewer if they are dependent. One pass
/// leaves rounding errors, which the third pass no longer has. The first message also carries the squared lengths of
/// r.
at::Tensor orthogonal_to(const WideVectors& vectors, const at::Tensor& q, at::Tensor w, at::Tensor& squares) {
  for (int pass = 0; pass < 3; ++pass) {
    const auto k = q.size(1), columns = w.size(1);
    auto numbers = at::mm(conjugate_rows(at::cat({q, w}, 1)), w);
    if (pass == 0) numbers = at::cat({numbers, squares.unsqueeze(0).to(numbers.scalar_type())});
    detail::sum_over("lobpcg", numbers, vectors.layout(), vectors.comm());
    if (pass == 0) squares = at::real(numbers[k + columns]);
    const auto parts = numbers.narrow(0, 0, k);
    const auto gram = numbers.narrow(0, k, columns) - at::mm(conjugate_rows(parts), parts);
    w = at::mm(w - at::mm(q, parts), orthonormalising(gram));
  }
  return w;
}

/// The best combinations of orthonormal directions by Rayleigh and Ritz, and those of their
/// origin.
struct Best {
  at::Tensor values, combination, direction;
  double size = 0;  ///< largest |value| of all
};
Best best_of(const WideVectors& vectors, const Block& s, std::int64_t k, bool largest) {
  const auto h = at::mm(conjugate_rows(s.x), s.ax);
  detail::sum_over("lobpcg", h, vectors.layout(), vectors.comm());
  const auto [values, y] = at::linalg_eigh(h);
  const auto best = y.narrow(1, largest ? s.size() - k : 0, k);
  auto direction = best.narrow(0, k, s.size() - k);
  direction = at::cat({at::zeros_like(best.narrow(0, 0, k)), direction});
  const auto beside_best = [&](const at::Tensor& x) { return x - at::mm(best, at::mm(conjugate_rows(best), x)); };
  const auto [u, lengths, _] = at::linalg_svd(beside_best(direction), false);
  const auto used = u.index_select(1, lengths.gt(1e-10).nonzero().flatten());
  return {values.narrow(0, largest ? s.size() - k : 0, k), best, std::get<0>(at::linalg_qr(beside_best(used))),
          values.abs().max().item<double>()};
}

void check_options(const LobpcgOptions& o, const DNDarray& x) {
  if (x.ndim() != 2) raise<ValueError>("lobpcg", "got a start of shape {}; expected columns", to_string(x.shape()));
  if (o.tol.value_or(1) < 0 || o.max_iterations < 0)
    raise<ValueError>("lobpcg", "got tol {} and {} iterations; expected none below 0", o.tol.value_or(0),
                      o.max_iterations);
}

}  // namespace

Eigenpairs lobpcg(const LinearOperator& a, const DNDarray& array, const LobpcgOptions& options) {
  const auto x = detail::one_cut("lobpcg", array);
  check_options(options, x);
  const auto k = x.shape()[1];
  detail::check_eigenproblem("lobpcg", a, k);
  const WideVectors vectors("lobpcg", a, x);
  const auto tol = options.tol.value_or(std::sqrt(detail::real_epsilon(vectors.dtype())));
  const auto start = vectors.local(x);
  auto squares = at::zeros({k}, at::kDouble);
  Block now{orthogonal_to(vectors, start.narrow(1, 0, 0), start, squares), {}}, before;
  if (now.size() < k)
    raise<ValueError>("lobpcg", "got {} columns of rank {}; expected independent ones", k, now.size());
  now.ax = vectors.products(a, now.x);
  auto best = best_of(vectors, now, k, options.largest);
  now = now.times(best.combination);
  std::int64_t iterations = 0;
  bool converged = false;
  for (double size = 0;; ++iterations) {
    size = std::max(size, best.size);
    const auto residual = now.ax - now.x * best.values;
    squares = at::real((residual * residual.conj()).sum(0));
    const auto better = options.preconditioner ? vectors.products(*options.preconditioner, residual) : residual;
    const auto known = before.size() > 0 ? at::cat({now.x, before.x}, 1) : now.x;
    Block other{orthogonal_to(vectors, known, better, squares), {}};
    converged = squares.max().sqrt().item<double>() <= tol * size;
    if (converged || iterations == options.max_iterations || other.size() == 0) break;
    other.ax = vectors.products(a, other.x);
    const auto all = beside({now, other, before});
    best = best_of(vectors, all, k, options.largest);
    before = all.times(best.direction);
    now = all.times(best.combination);
  }
  auto found = detail::eigenpairs("lobpcg", a, vectors, best.values, now.x);
  found.iterations = iterations;
  found.converged = converged;
  detail::warn_unless_converged("lobpcg", found);
  return found;
}

}  // namespace heatpp::linalg
