#include <heatpp/ml/naive_bayes/gaussian_nb.hpp>

#include <heatpp/ml/detail/class_moments.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/classes.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>

#include <numbers>

namespace heatpp {
namespace {

using namespace ml::detail;

void check_options(const char* op, const GaussianNBOptions& o) {
  double sum = 0;
  for (const auto prior : o.priors) sum += prior >= 0 ? prior : NAN;
  if (!(o.var_smoothing >= 0) || (!o.priors.empty() && !(std::abs(sum - 1) < 1e-6)))
    detail::raise<ValueError>(op,
                              "got var_smoothing {} and priors {}; expected 0 or more, and none or ones that sum to 1",
                              o.var_smoothing, o.priors);
}

/// Moments, classes x features; those of a batch are merged with the fitted ones of the same classes, if any.
struct State {
  at::Tensor count, mean, m2;
};

State state_of(const std::vector<Moments>& moments, std::int64_t classes) {
  auto all = at::empty({classes, std::ssize(moments) / classes, 3}, at::kDouble);
  auto* to = all.data_ptr<double>();
  for (const auto& [n, mean, m2] : moments) {
    *to++ = n;
    *to++ = mean;
    *to++ = m2;
  }
  return {all.select(2, 0).select(1, 0), all.select(2, 1), all.select(2, 2)};
}

/// Returns the state with empty rows for its missing classes.
State spread(const State& state, const at::Tensor& places, std::int64_t classes) {
  const auto f = state.mean.size(1);
  State result{at::zeros({classes}, at::kDouble), at::zeros({classes, f}, at::kDouble),
               at::zeros({classes, f}, at::kDouble)};
  result.count.index_copy_(0, places, state.count);
  result.mean.index_copy_(0, places, state.mean);
  result.m2.index_copy_(0, places, state.m2);
  return result;
}

State merged(const State& a, const State& b) {
  const auto n = a.count + b.count;
  const auto share = at::where(n > 0, b.count / n, 0.0).unsqueeze(1), difference = b.mean - a.mean;
  return {n, a.mean + difference * share, a.m2 + b.m2 + difference.square() * share * a.count.unsqueeze(1)};
}

/// Returns the largest variance of a column over all classes.
double largest_variance(const State& s) {
  const auto n = s.count.sum(), weights = s.count.unsqueeze(1);
  const auto mean = (s.mean * weights).sum(0) / n;
  return ((s.m2 + (s.mean - mean).square() * weights).sum(0) / n).max().item<double>();
}

}  // namespace

GaussianNB& GaussianNB::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  GaussianNB fresh(options_);
  fresh.learn("fit", x, y, options);
  return *this = std::move(fresh);
}

GaussianNB& GaussianNB::partial_fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  learn("partial_fit", x, y, options);
  return *this;
}

void GaussianNB::learn(const char* what, const Rows& x, const DNDarray& y, const FitOptions& options) {
  const Method op(kind(), what);
  if (!fitted_) check_agreed(op, x, options_);
  check_options(op, options_);
  check_not_empty(op, x);
  if (classes_) check_features(op, x, classes_->features);
  const auto weights = weights_beside(op, x, options.sample_weight);
  const auto classes = classes_beside(op, x, y);
  auto state =
      state_of(class_moments(op, x, classes, weights ? weights->const_data_ptr<double>() : nullptr), classes.count());
  auto values = classes.values;
  if (fitted_) {
    const auto both = united(classes_->values.larray(), values);
    const State before{fitted_->count.larray(), fitted_->theta.larray(), fitted_->m2.larray()};
    values = both.values;
    state = merged(spread(before, both.first, values.size(0)), spread(state, both.second, values.size(0)));
  }
  if (!options_.priors.empty() && std::ssize(options_.priors) != values.size(0))
    detail::raise<ValueError>(op, "got {} priors for {} classes", options_.priors.size(), values.size(0));
  const auto epsilon = options_.var_smoothing * largest_variance(state);
  const auto var = at::where(state.count > 0, state.count.reciprocal(), 0.0).unsqueeze(1) * state.m2 + epsilon;
  if (!(var.min().item<double>() > 0))
    detail::raise<ValueError>(op, "got a class with a feature of variance 0, and {} to add; expected more than 0",
                              epsilon);
  const auto prior =
      options_.priors.empty() ? state.count / state.count.sum() : at::tensor(options_.priors, at::kDouble);
  const auto whole = [&](const at::Tensor& value) { return replicated(value, float64, x.comm()); };
  classes_ = Classes{replicated(values, int64, x.comm()), x.features()};
  fitted_ = Fitted{whole(state.count), whole(state.mean), whole(state.m2), whole(var), whole(prior), epsilon};
}

Classifier::Scores GaussianNB::scores() const {
  const auto theta = fitted_->theta.larray(), var = fitted_->var.larray();
  const auto constant = fitted_->prior.larray().log() - (2 * std::numbers::pi * var).log().sum(1) / 2;
  return [theta, var, constant](const RowBlock& rows) {
    const auto block = rows.dense();
    auto result = at::empty({block.size(0), theta.size(0)}, at::kDouble);
    for (std::int64_t c = 0; c < theta.size(0); ++c)
      result.select(1, c).copy_(constant[c] - ((block - theta[c]).square() / var[c]).sum(1) / 2);
    return result;
  };
}

const GaussianNB::Fitted& GaussianNB::fitted_state(const char* what) const {
  return fitted(Method(kind(), what), fitted_);
}

DNDarray GaussianNB::theta() const { return fitted_state("theta").theta; }
DNDarray GaussianNB::var() const { return fitted_state("var").var; }
DNDarray GaussianNB::class_count() const { return fitted_state("class_count").count; }
DNDarray GaussianNB::class_prior() const { return fitted_state("class_prior").prior; }
double GaussianNB::epsilon() const { return fitted_state("epsilon").epsilon; }

}  // namespace heatpp
