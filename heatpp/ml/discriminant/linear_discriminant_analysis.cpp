#include <heatpp/ml/discriminant/linear_discriminant_analysis.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/decomposition/detail/affine.hpp>
#include <heatpp/ml/decomposition/detail/row_factor.hpp>
#include <heatpp/ml/detail/class_moments.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/gram.hpp>
#include <heatpp/ml/detail/options/classes.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

constexpr auto fit_op = "LinearDiscriminantAnalysis.fit";

/// Rows minus the mean of their class.
class Centered final : public RowSource {
 public:
  Centered(Rows rows, at::Tensor means, const std::vector<std::int32_t>& classes)
      : rows_(std::move(rows)),
        means_(std::move(means)),
        classes_(at::tensor(at::ArrayRef<std::int32_t>(classes), at::kInt)) {}
  [[nodiscard]] at::Tensor read(std::int64_t first, std::int64_t count) const override {
    const auto own = means_.index_select(0, classes_.slice(0, first, first + count));
    return rows_.read(first, count).to(at::kDouble).sub(own);
  }

 private:
  Rows rows_;
  at::Tensor means_, classes_;
};

struct Classwise {
  at::Tensor sizes, means;  ///< (classes,) weights, (classes, features)
};

Classwise classwise(const std::vector<Moments>& moments, std::int64_t classes) {
  const auto f = std::ssize(moments) / classes;
  return {of_columns(moments, &Moments::n).reshape({classes, f}).select(1, 0).contiguous(),
          of_columns(moments, &Moments::mean).reshape({classes, f})};
}

at::Tensor checked_priors(const LinearDiscriminantOptions& options, const at::Tensor& sizes) {
  if (options.priors.empty()) return sizes / sizes.sum();
  const auto priors = at::tensor(options.priors, at::kDouble);
  if (priors.size(0) != sizes.size(0) || !priors.ge(0).all().item<bool>() ||
      !(std::abs(priors.sum().item<double>() - 1) < 1e-5))
    detail::raise<ValueError>(fit_op, "got priors {} for {} classes; expected one of 0 or more for each, that sum to 1",
                              options.priors, sizes.size(0));
  return priors;
}

/// Returns directions, as columns, along which rows have covariance 1 within classes.
at::Tensor whitening(const Gram& within, double tol) {
  auto deviation = (within.scatter.diagonal().clamp_min(0) / within.n).sqrt();
  deviation = at::where(deviation > 0, deviation, 1.0);
  const auto [squares, vectors] = at::linalg_eigh(within.scatter / within.n / at::outer(deviation, deviation));
  const auto lengths = squares.clamp_min(0).sqrt();
  const auto kept = (lengths > tol).nonzero().flatten();
  if (kept.size(0) == 0)
    detail::raise<ValueError>(fit_op, "got rows that spread {:g} within classes; expected more than tol {:g}",
                              lengths.numel() ? lengths.max().item<double>() : 0.0, tol);
  return vectors.index_select(1, kept) / deviation.unsqueeze(1) / lengths.index_select(0, kept);
}

/// Directions, as columns, that separate classes, and the squared distance along each.
struct Apart {
  at::Tensor scalings, squares;
};
Apart apart(const at::Tensor& whitened, const at::Tensor& offsets, const at::Tensor& weights, double tol) {
  const auto between = at::matmul(offsets * weights.sqrt().unsqueeze(1), whitened);
  const auto [values, vectors] = right_vectors(between);
  const auto rank = (values > tol * values[0]).sum().item<std::int64_t>();
  return {with_signs(at::matmul(vectors.slice(0, 0, rank), whitened.t())).t(), values.square()};
}

}  // namespace

LinearDiscriminantAnalysis& LinearDiscriminantAnalysis::fit(const Rows& x, const DNDarray& y,
                                                            const FitOptions& options) {
  check_agreed(fit_op, x, options_);
  check_not_empty(fit_op, x);
  const auto weights = weights_beside(fit_op, x, options.sample_weight);
  const auto* weight = weights ? weights->const_data_ptr<double>() : nullptr;
  const auto classes = classes_beside(fit_op, x, y);
  const auto k = classes.count(), most = std::min(k - 1, x.features());
  const auto components = options_.n_components.value_or(most);
  if (k < 2 || x.size() <= k || !(options_.tol >= 0) || components < 1 || components > most)
    detail::raise<ValueError>(fit_op,
                              "got {} rows of {} features and {} classes, {} components and tol {}; expected two "
                              "classes at least, more rows, 1 to {} components and tol >= 0",
                              x.size(), x.features(), k, components, options_.tol, std::max<std::int64_t>(most, 1));
  const auto [sizes, means] = classwise(class_moments(fit_op, x, classes, weight), k);
  const auto priors = checked_priors(options_, sizes);
  const auto centered = std::make_shared<Centered>(x, means, classes.index);
  const auto within = gram(fit_op, Rows(centered, x.layout(), float64, x.comm()), {.weights = weight});
  if (!(within.n > static_cast<double>(k)))
    detail::raise<ValueError>(fit_op, "got weights that sum to {:g} for {} classes; expected more", within.n, k);
  const auto whitened = whitening(within, options_.tol);
  const auto xbar = at::matmul(priors, means), offsets = means - xbar;
  const auto [scalings, squares] =
      apart(whitened, offsets, within.n * priors / static_cast<double>(k - 1), options_.tol);
  const auto along = at::matmul(offsets, scalings);
  auto coef = at::matmul(along, scalings.t());
  auto intercept = priors.log() - along.square().sum(1) / 2 - at::mv(coef, xbar);
  if (k == 2) {
    coef = (coef[1] - coef[0]).unsqueeze(0);
    intercept = (intercept[1] - intercept[0]).unsqueeze(0);
  }
  const auto whole = [&](const at::Tensor& value) { return replicated(value.contiguous(), float64, x.comm()); };
  classes_ = Classes{replicated(classes.values, int64, x.comm()), x.features()};
  fitted_ = Fitted{whole(coef),
                   whole(intercept),
                   whole(means),
                   whole(priors),
                   whole(xbar),
                   whole(scalings),
                   whole((squares / squares.sum()).slice(0, 0, components))};
  return *this;
}

Classifier::Scores LinearDiscriminantAnalysis::scores() const {
  return
      [coef = fitted_->coef.larray().t().contiguous(), intercept = fitted_->intercept.larray()](const RowBlock& block) {
        const auto z = block.times(coef).add_(intercept);
        return z.size(1) > 1 ? z : at::cat({at::zeros_like(z), z}, 1);
      };
}

DNDarray LinearDiscriminantAnalysis::decision_function(const Rows& x) const {
  const auto& model = fitted_state("decision_function");
  check_features(Method(kind(), "decision_function"), x, model.coef.shape()[1]);
  const auto z = moved(x, at::zeros({1}, at::kDouble), model.coef.larray().t(), model.intercept.larray());
  return model.coef.shape()[0] > 1 ? z : as_rows(x, z.larray().select(1, 0));
}

DNDarray LinearDiscriminantAnalysis::transform(const Rows& x) const {
  const auto& model = fitted_state("transform");
  check_features(Method(kind(), "transform"), x, model.coef.shape()[1]);
  const auto directions = model.scalings.larray().slice(1, 0, model.ratio.size());
  return moved(x, model.xbar.larray(), directions, at::zeros({1}, at::kDouble));
}

const LinearDiscriminantAnalysis::Fitted& LinearDiscriminantAnalysis::fitted_state(const char* what) const {
  return fitted(Method(kind(), what), fitted_);
}

DNDarray LinearDiscriminantAnalysis::coef() const { return fitted_state("coef").coef; }
DNDarray LinearDiscriminantAnalysis::intercept() const { return fitted_state("intercept").intercept; }
DNDarray LinearDiscriminantAnalysis::means() const { return fitted_state("means").means; }
DNDarray LinearDiscriminantAnalysis::priors() const { return fitted_state("priors").priors; }
DNDarray LinearDiscriminantAnalysis::xbar() const { return fitted_state("xbar").xbar; }
DNDarray LinearDiscriminantAnalysis::scalings() const { return fitted_state("scalings").scalings; }
DNDarray LinearDiscriminantAnalysis::explained_variance_ratio() const {
  return fitted_state("explained_variance_ratio").ratio;
}

ModelState LinearDiscriminantAnalysis::state() const {
  const auto& l = fitted_state("state");
  return {kind(),
          texts_of(options_),
          {{"coef", l.coef},
           {"intercept", l.intercept},
           {"means", l.means},
           {"priors", l.priors},
           {"xbar", l.xbar},
           {"scalings", l.scalings},
           {"explained_variance_ratio", l.ratio},
           {"classes", classes_->values}}};
}

LinearDiscriminantAnalysis LinearDiscriminantAnalysis::from_state(const ModelState& state) {
  const StateReader read("LinearDiscriminantAnalysis", state);
  const auto means = read.array("means", {-1, -1});
  const auto k = means.shape()[0], f = means.shape()[1], outputs = k == 2 ? 1 : k;
  const auto priors = read.array("priors", {k}), scalings = read.array("scalings", {f, -1}),
             ratio = read.array("explained_variance_ratio", {-1});
  if (ratio.size() > scalings.shape()[1])
    detail::raise<ValueError>(read.op(), "got {} components of {} directions; expected no more", ratio.size(),
                              scalings.shape()[1]);
  LinearDiscriminantAnalysis model(options_from<LinearDiscriminantOptions>(read, {"priors"}));
  if (!read.has_option("priors") && read.option<bool>("given_priors")) {  // older states have them as an array
    const auto given = priors.astype(float64).larray();
    model.options_.priors.assign(given.const_data_ptr<double>(), given.const_data_ptr<double>() + k);
  }
  const auto wide = [&](const char* name, const Shape& shape) { return read.array(name, shape).astype(float64); };
  model.classes_ = Classes{read.whole_numbers("classes", {k}), f};
  model.fitted_ =
      Fitted{wide("coef", {outputs, f}), wide("intercept", {outputs}), means.astype(float64), priors.astype(float64),
             wide("xbar", {f}),          scalings.astype(float64),     ratio.astype(float64)};
  return model;
}

}  // namespace heatpp
