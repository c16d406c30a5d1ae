#include <heatpp/ml/linear/detail/least_squares.hpp>

#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/detail/rounding.hpp>

#include <limits>

namespace heatpp::ml::detail {
namespace {

constexpr auto eps = std::numeric_limits<double>::epsilon();
constexpr double good_ratio = 1e-7;  ///< of eigenvalues, so that nine digits are left

/// A source of f(block) for the blocks of another source.
class MappedRows final : public RowSource {
 public:
  using Map = std::function<at::Tensor(const at::Tensor& block)>;
  MappedRows(const Rows& rows, Map f) : rows_(rows), f_(std::move(f)) {}
  [[nodiscard]] at::Tensor read(std::int64_t first, std::int64_t count) const override {
    return f_(rows_.read(first, count));
  }
  void pass(std::int64_t, std::int64_t, const Visit& visit) const override {
    rows_.pass([&](std::int64_t first, const at::Tensor& block) { visit(first, f_(block)); });
  }

 private:
  Rows rows_;
  Map f_;
};

Rows mapped_rows(const Rows& rows, MappedRows::Map f) {
  return {std::make_shared<MappedRows>(rows, std::move(f)), rows.layout(), float64, rows.comm()};
}

bool well_conditioned(const at::Tensor& eigenvalues) {
  return eigenvalues[0].item<double>() > good_ratio * eigenvalues[-1].item<double>();
}

/// Returns 1 for columns with information, and 0 for those that are constant except for the rounding of their mean
/// (Chan, Golub, LeVeque 1983), which the intercept covers.
at::Tensor telling(const Gram& gram, const NormalEquations& equations, bool intercept) {
  const auto squares = equations.xx.diagonal();
  if (!intercept) return at::ones_like(squares);
  const auto rounding = rounding_rows(gram.n) * eps * gram.mean.slice(0, 0, squares.size(0));
  return (squares > gram.n * rounding.square()).to(at::kDouble);
}

/// Returns the solution, or nullopt if the equations are too ill-conditioned.
std::optional<at::Tensor> solved(const NormalEquations& equations, const at::Tensor& telling, double alpha) {
  const auto a = equations.xx + alpha * at::eye(equations.xx.size(0), at::kDouble);
  const auto lengths = a.diagonal().sqrt().unsqueeze(1);
  if (!telling.all().item<bool>() || !(lengths.min().item<double>() > 0)) return std::nullopt;
  const auto [values, vectors] = at::linalg_eigh(a / lengths / lengths.t());
  if (!well_conditioned(values)) return std::nullopt;
  return at::matmul(vectors, at::matmul(vectors.t(), equations.xy / lengths) / values.unsqueeze(1)) / lengths;
}

/// Factors of X: any matrix R with X'X = R'R, instead of a triangle, and q = Q'y with X = Q R.
struct Factors {
  at::Tensor r, q;
};

Factors factors(const char* op, const Rows& rows, const Gram& first, const GramOptions& gram_options,
                const at::Tensor& telling, bool intercept) {
  const auto f = rows.features();
  const auto origin = intercept ? first.mean.slice(0, 0, f) : at::zeros({f}, at::kDouble);
  auto equations = normal_equations(first, f, intercept);
  auto to = at::diag(telling), from = to;  // rows z = (x - origin) to, and x - origin = z from
  auto [values, vectors] = at::linalg_eigh(at::matmul(at::matmul(to, equations.xx), to));
  for (int pass = 0; pass < 2; ++pass) {
    const auto shift = static_cast<double>(f) * eps * values[-1].item<double>();
    const auto roots = (values.clamp_min(0) + std::max(shift, std::numeric_limits<double>::min())).sqrt();
    to = at::matmul(to, vectors / roots);
    from = at::matmul(roots.unsqueeze(1) * vectors.t(), from);
    const auto z = mapped_rows(rows, [&](const at::Tensor& x) { return at::matmul(x.to(at::kDouble) - origin, to); });
    equations = normal_equations(gram(op, z, gram_options), f, intercept);
    std::tie(values, vectors) = at::linalg_eigh(equations.xx);
    if (well_conditioned(values)) break;
  }
  const auto roots = values.clamp_min(0).sqrt().unsqueeze(1);
  const auto along = at::matmul(vectors.t(), equations.xy);
  return {at::matmul(roots * vectors.t(), from), at::where(roots > 0, along / roots, 0.0)};
}

at::Tensor solved(const Factors& factors, double alpha, double rows) {
  const auto [u, s, vt] = at::linalg_svd(factors.r, /*full_matrices=*/false);
  const auto least = std::max(rounding_rows(rows), static_cast<double>(s.size(0))) * eps * s[0].item<double>();
  const auto inverse = alpha > 0 ? s / (s.square() + alpha) : at::where(s > least, s.reciprocal(), 0.0);
  return at::matmul(vt.t(), inverse.unsqueeze(1) * at::matmul(u.t(), factors.q));
}

}  // namespace

NormalEquations normal_equations(const Gram& gram, std::int64_t features, bool intercept) {
  const auto products = intercept ? gram.scatter : at::addr(gram.scatter, gram.mean, gram.mean, 1, gram.n);
  const auto x = products.slice(0, 0, features);
  return {x.slice(1, 0, features), x.slice(1, features), products.diagonal().slice(0, features)};
}

Plane plane_of(const Gram& gram, const at::Tensor& coef, bool intercept) {
  const auto f = coef.size(0);
  const auto x = gram.mean.slice(0, 0, f), y = gram.mean.slice(0, f);
  return {coef.t().contiguous(), intercept ? y - at::matmul(x, coef) : at::zeros_like(y)};
}

FittedPlane fitted_plane(const Rows& rows, const Targets& targets, const Plane& plane) {
  return {replicated(plane.coef, float64, rows.comm()), replicated(plane.intercept, float64, rows.comm()),
          targets.single, working_dtype(rows)};
}

Plane least_squares(const char* op, const Rows& rows, const Targets& targets, const LeastSquaresOptions& options) {
  if (sparse_rows(rows)) return sparse_least_squares(op, rows, targets, options);
  const GramOptions gram_options{.weights = options.weights, .targets = targets.values};
  const auto first = gram(op, rows, gram_options);
  const auto equations = normal_equations(first, rows.features(), options.intercept);
  const auto mask = telling(first, equations, options.intercept);
  auto coef = solved(equations, mask, options.alpha);
  if (!coef)
    coef = solved(factors(op, rows, first, gram_options, mask, options.intercept), options.alpha,
                  static_cast<double>(rows.size()));
  return plane_of(first, *coef, options.intercept);
}

}  // namespace heatpp::ml::detail
