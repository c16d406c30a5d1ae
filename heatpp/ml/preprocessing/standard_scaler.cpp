#include <heatpp/ml/detail/column_moments.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/preprocessing.hpp>
#include <heatpp/ml/detail/rounding.hpp>
#include <heatpp/ml/preprocessing/scalers.hpp>

#include <limits>

namespace heatpp {
namespace {

using namespace ml::detail;

/// Whether a variance is within the rounding of its computation from n numbers (Chan, Golub, LeVeque 1983).
at::Tensor is_constant(const at::Tensor& n, const at::Tensor& mean, const at::Tensor& var) {
  constexpr auto eps = std::numeric_limits<double>::epsilon();
  const auto rows = n.clamp(rounding_rows(0), rounding_rows(std::numeric_limits<double>::max()));
  return var <= rows * eps * var + (rows * mean * eps).square();
}

at::Tensor column(const std::vector<Moments>& moments, double (*number)(const Moments&)) {
  auto numbers = at::empty({std::ssize(moments)}, at::kDouble);
  std::ranges::transform(moments, numbers.data_ptr<double>(), number);
  return numbers;
}

}  // namespace

StandardScaler& StandardScaler::fit(const Rows& x, const FitOptions& options) {
  StandardScaler fresh(options_);
  fresh.learn("fit", x, options);
  return *this = std::move(fresh);
}

StandardScaler& StandardScaler::partial_fit(const Rows& x, const FitOptions& options) {
  learn("partial_fit", x, options);
  return *this;
}

void StandardScaler::learn(const char* what, const Rows& x, const FitOptions& options) {
  const Method op(kind(), what);
  if (!seen_) check_agreed(op, x, options_);
  if (seen_) check_features(op, x, seen_->mean.shape()[0]);
  check_not_empty(op, x);
  const auto weights = weights_beside(op, x, options.sample_weight);
  auto moments = column_moments(op, x, weights ? weights->const_data_ptr<double>() : nullptr, Missing::left_out);
  if (seen_)
    for (std::size_t j = 0; j < moments.size(); ++j) {
      const auto at = static_cast<std::int64_t>(j);
      const auto of = [&](const DNDarray& array) { return array.larray().const_data_ptr<double>()[at]; };
      if (!(of(seen_->n) > 0)) continue;
      Moments both{of(seen_->n), of(seen_->mean), of(seen_->var) * of(seen_->n)};
      both.merge(moments[j]);
      moments[j] = both;
    }
  const auto n = column(moments, [](const Moments& m) { return m.n; });
  const auto mean = column(moments, [](const Moments& m) { return m.n > 0 ? m.mean : NAN; });
  const auto var = column(moments, [](const Moments& m) { return m.n > 0 ? m.m2 / m.n : NAN; });
  const auto whole = [&](const at::Tensor& value) { return replicated(value, float64, x.comm()); };
  seen_ = Seen{whole(n), whole(mean), whole(var)};
  const auto deviation = at::where(is_constant(n, mean, var), 1.0, var.sqrt());
  fitted_ = Fitted{whole(options_.with_mean ? mean : at::zeros_like(mean)),
                   whole(options_.with_std ? deviation : at::ones_like(mean))};
}

const StandardScaler::Seen& StandardScaler::seen(const char* what) const { return fitted(Method(kind(), what), seen_); }

const DNDarray& StandardScaler::mean() const { return seen("mean").mean; }
const DNDarray& StandardScaler::var() const { return seen("var").var; }
const DNDarray& StandardScaler::n_samples_seen() const { return seen("n_samples_seen").n; }

}  // namespace heatpp
