#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/decompositions/detail/columns.hpp>
#include <heatpp/linalg/solvers/detail/lanczos.hpp>
#include <heatpp/linalg/solvers/detail/spectral.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>

namespace heatpp::linalg {
namespace {

using detail::LanczosProcess;
using detail::raise;
using detail::WideVectors;

void check_options(std::int64_t n, std::int64_t k, const EigshOptions& o) {
  if (o.tol.value_or(1) < 0 || o.max_iterations.value_or(1) < 1)
    raise<ValueError>("eigsh", "got tol {} and {} iterations; expected none below 0, and at least one iteration",
                      o.tol.value_or(0), o.max_iterations.value_or(0));
  if (o.basis && (*o.basis > n || *o.basis < std::min(n, k + 2)))
    raise<ValueError>("eigsh", "got a basis of {} vectors; expected {} to {}", *o.basis, std::min(n, k + 2), n);
  if (o.inverse && !o.sigma) raise<ValueError>("eigsh", "got an inverse without sigma; expected both or none");
}

/// Returns the inverse of a - sigma, which solves for each vector.
LinearOperator solved_inverse(const LinearOperator& a, double sigma, double epsilon, KrylovOptions options) {
  options.rtol = std::max(options.rtol, 10 * epsilon);
  const LinearOperator shifted(
      a.shape, [a, sigma](const DNDarray& x) { return a.apply(x) - x * sigma; }, {}, a.dtype);
  return {a.shape, [shifted, options, sigma](const DNDarray& x) {
            const auto solver = options.preconditioner ? solve_gmres : solve_minres;
            const auto found = solver(shifted, x, options);
            if (!(found.residual <= 1e3 * options.rtol))
              raise<Error>("eigsh",
                           "got a residual of {} after {} iterations of the system with sigma {}; expected another "
                           "sigma, an inverse, or other options to solve",
                           found.residual, found.iterations, sigma);
            return found.x;
          }};
}

/// Returns how much a value is wanted.
at::Tensor merit(const at::Tensor& values, Which which) {
  switch (which) {
    case Which::largest: return values;
    case Which::smallest: return -values;
    case Which::largest_magnitude: return values.abs();
    default: return -values.abs();
  }
}

/// Runs Lanczos' process until k pairs have converged.
class Search {
 public:
  Search(LanczosProcess process, std::int64_t k, Which which, double tol, std::int64_t most, bool multiples)
      : process_(std::move(process)), k_(k), which_(which), tol_(tol), most_(most), multiples_(multiples) {}

  /// Returns whether all have converged.
  bool run(const at::Tensor& first) {
    process_.start(first);
    while (true) {
      while (!process_.full() && iterations_ < most_) {
        process_.step();
        ++iterations_;
      }
      ritz_ = process_.ritz();
      order_ = merit(ritz_.values, which_).argsort(true, -1, true);
      if (process_.size() >= k_ && found()) return true;
      if (iterations_ >= most_) return false;
      const auto room = process_.vectors().room();
      const auto kept = again_ ? k_ : std::min(k_ + (room - k_) / 3, room - 1);
      process_.restart(ritz_, order_.narrow(0, 0, kept));
      if (again_) process_.start_anew();
      again_ = false;
    }
  }
  [[nodiscard]] std::int64_t iterations() const { return iterations_; }
  /// Returns the wanted values, the most wanted first, and their vectors in rows.
  [[nodiscard]] std::pair<at::Tensor, at::Tensor> pairs() const {
    const auto best = order_.narrow(0, 0, std::min(k_, order_.numel()));
    return {ritz_.values.index_select(0, best), process_.combined(ritz_.vectors.index_select(1, best))};
  }

 private:
  /// Whether the search is over. Else `again_` says whether another start is needed.
  bool found() {
    size_ = std::max(size_, ritz_.values.abs().max().item<double>());
    const auto slack = tol_ * size_;
    const auto best = order_.narrow(0, 0, k_);
    if (ritz_.residuals.index_select(0, best).max().item<double>() > slack) return false;
    if (process_.complete()) return true;
    if (!multiples_) return true;
    const auto merits = merit(ritz_.values.index_select(0, best), which_);
    if (settled_.defined() && at::allclose(settled_, merits, 0, 10 * slack)) return behind(slack);
    settled_ = merits;
    again_ = true;
    return false;
  }
  /// Whether the best of the others, with its possible error, is no better than the last wanted one.
  [[nodiscard]] bool behind(double slack) const {
    if (process_.size() == k_) return false;
    const auto next = order_.narrow(0, k_, 1);
    const auto value = merit(ritz_.values.index_select(0, next), which_).item<double>();
    const auto lacks = ritz_.residuals.index_select(0, next).item<double>();
    return value + lacks <= settled_[k_ - 1].item<double>() + slack;
  }

  LanczosProcess process_;
  std::int64_t k_;
  Which which_;
  double tol_;
  std::int64_t most_, iterations_ = 0;
  bool multiples_, again_ = false;
  double size_ = 0;  // the largest |value| seen
  LanczosProcess::Ritz ritz_;
  at::Tensor order_, settled_;
};

/// Returns columns whose products with `first` are positive.
at::Tensor turned(const WideVectors& vectors, const at::Tensor& rows, const at::Tensor& first) {
  const auto along = at::mv(rows, first.conj().resolve_conj()).contiguous();
  detail::sum_over("eigsh", along, vectors.layout(), vectors.comm());
  const auto size = along.abs();
  const auto phase = at::where(size.gt(0), along.conj() / size, at::ones({}, along.options()));
  return (rows * phase.unsqueeze(1)).t().contiguous();
}

}  // namespace

Eigenpairs eigsh(const LinearOperator& a, std::int64_t k, const EigshOptions& options) {
  detail::check_eigenproblem("eigsh", a, k);
  const auto n = a.shape[0];
  check_options(n, k, options);
  const WideVectors vectors("eigsh", a, options.v0);
  const auto epsilon = detail::real_epsilon(vectors.dtype());
  const auto inverse = !options.sigma    ? a
                       : options.inverse ? *options.inverse
                                         : solved_inverse(a, *options.sigma, epsilon, options.solve);
  const auto product = [&](const at::Tensor& v) { return vectors.product(inverse.apply, vectors, v); };
  const auto room = options.basis.value_or(std::min(n, std::max<std::int64_t>(2 * k + 1, 30)));
  detail::Orthonormal basis("eigsh", vectors.layout(), vectors.comm(), vectors.type(), room);
  const auto first = options.v0 ? vectors.local(*options.v0) : basis.another(0);
  Search search(LanczosProcess(product, std::move(basis), epsilon), k, options.which,
                options.tol.value_or(100 * epsilon),
                options.max_iterations.value_or(std::max<std::int64_t>(10 * n, 300)), options.multiples);
  const bool converged = search.run(first);
  auto [values, rows] = search.pairs();
  if (options.sigma) values = values.reciprocal() + *options.sigma;
  const auto rising = values.argsort();
  auto found = detail::eigenpairs("eigsh", a, vectors, values.index_select(0, rising),
                                  turned(vectors, rows.index_select(0, rising), first));
  found.iterations = search.iterations();
  found.converged = converged;
  detail::warn_unless_converged("eigsh", found);
  return found;
}

}  // namespace heatpp::linalg
