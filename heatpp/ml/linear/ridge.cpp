#include <heatpp/ml/linear/ridge.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/options/linear.hpp>
#include <heatpp/ml/linear/detail/least_squares.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

FittedPlane fitted(const char* op, const Rows& x, const DNDarray& y, const FitOptions& fit,
                   LeastSquaresOptions options) {
  check_not_empty(op, x);
  const auto targets = targets_beside(op, x, y);
  const auto weights = weights_beside(op, x, fit.sample_weight);
  if (weights) options.weights = weights->const_data_ptr<double>();
  return fitted_plane(x, targets, least_squares(op, x, targets, options));
}

}  // namespace

LinearRegression& LinearRegression::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  check_agreed("LinearRegression.fit", x, options_);
  fitted_ = fitted("LinearRegression.fit", x, y, options, {.intercept = options_.intercept});
  return *this;
}

Ridge& Ridge::fit(const Rows& x, const DNDarray& y, const FitOptions& options) {
  check_agreed("Ridge.fit", x, options_);
  if (!(options_.alpha >= 0) || !std::isfinite(options_.alpha))
    detail::raise<ValueError>("Ridge.fit", "got alpha {}; expected a finite number of 0 or more", options_.alpha);
  fitted_ = fitted("Ridge.fit", x, y, options, {.alpha = options_.alpha, .intercept = options_.intercept});
  return *this;
}

}  // namespace heatpp
