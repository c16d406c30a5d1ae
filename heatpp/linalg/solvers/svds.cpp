#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/solvers/detail/spectral.hpp>

namespace heatpp::linalg {
namespace {

using detail::raise;
using detail::WideVectors;

void check(const LinearOperator& a, std::int64_t k) {
  if (a.shape.size() != 2)
    raise<ValueError>("svds", "got an operator of shape {}; expected two axes", to_string(a.shape));
  const auto most = std::min(a.shape[0], a.shape[1]);
  if (k < 1 || k > most)
    raise<ValueError>("svds", "got k {} for shape {}; expected 1 to {}", k, to_string(a.shape), most);
  if (!a.apply_adjoint) raise<ValueError>("svds", "got an operator without adjoint; expected one that has it");
}

/// Returns the operator whose rows are the columns of `a`, evenly cut if those of `a` are.
LinearOperator adjoint_of(const LinearOperator& a) {
  LinearOperator result({a.shape[1], a.shape[0]}, a.apply_adjoint, a.apply, a.dtype);
  const Shape rows{a.shape[1]};
  if (a.cut)
    result.cut = VectorCut{a.cut->layout.split() ? Layout(rows, 0, a.cut->comm.size()) : a.cut->layout.replicated(rows),
                           a.cut->comm, a.cut->device};
  result.of_matrices = a.of_matrices;
  return result;
}

/// Orthonormal columns q and a triangle r on every rank with q r = w, also if columns of w are dependent.
struct Factors {
  at::Tensor q, r;
};
Factors orthogonal_factors(const WideVectors& vectors, const at::Tensor& w) {
  const auto k = w.size(1);
  detail::Orthonormal basis("svds", vectors.layout(), vectors.comm(), vectors.type(), k);
  auto r = at::zeros({k, k}, vectors.type());
  const auto size = vectors.lengths("svds", w).max().item<double>();
  for (std::int64_t i = 0; i < k; ++i) {
    auto column = w.select(1, i).contiguous();
    const auto [parts, length] = basis.straighten(column, i);
    const bool none = length <= static_cast<double>(k) * detail::real_epsilon(Dtype::float64) * size;
    r.select(1, i).narrow(0, 0, i).copy_(parts);
    if (!none) r[i][i] = length;
    basis.set(i, none ? basis.another(i) : column.div_(length));
  }
  return {basis.rows().t(), r};
}

}  // namespace

SingularTriplets svds(const LinearOperator& a, std::int64_t k, const SvdsOptions& options) {
  check(a, k);
  const bool tall = a.shape[0] >= a.shape[1];
  const auto adjoint = adjoint_of(a);
  const auto& short_one = tall ? adjoint : a;  // the one with fewer rows
  const auto& long_one = tall ? a : adjoint;
  LinearOperator gram(
      {short_one.shape[0], short_one.shape[0]}, [&](const DNDarray& x) { return short_one.apply(long_one.apply(x)); },
      {}, a.dtype);
  gram.cut = short_one.cut;
  gram.of_matrices = a.of_matrices;
  const WideVectors few("svds", gram, options.v0);
  const WideVectors many(few.layout().split() ? (long_one.cut && long_one.cut->layout.split()
                                                     ? long_one.cut->layout
                                                     : Layout({long_one.shape[0]}, 0, few.comm().size()))
                                              : few.layout().replicated({long_one.shape[0]}),
                         few);
  const auto found = eigsh(gram, k,
                           {.which = options.smallest ? Which::smallest : Which::largest,
                            .tol = options.tol,
                            .max_iterations = options.max_iterations,
                            .basis = options.basis,
                            .v0 = options.v0,
                            .multiples = options.multiples});
  const auto v = few.local(found.vectors);
  const auto [q, r] = orthogonal_factors(many, many.products(long_one, few, v));
  const auto [inner, s, outer] = at::linalg_svd(r);
  const auto of_many = at::mm(q, inner).contiguous();
  const auto of_few = at::mm(v, outer.t().conj()).contiguous();
  const auto rest = few.products(short_one, many, of_many) - of_few * s;
  const auto& right = tall ? of_few : of_many;
  const auto& of_right = tall ? few : many;
  const auto& of_left = tall ? many : few;
  return {of_left.array(tall ? of_many : of_few),    few.everywhere(s), of_right.array_of_rows(right.t().conj()),
          few.everywhere(few.lengths("svds", rest)), found.iterations,  found.converged};
}

}  // namespace heatpp::linalg
