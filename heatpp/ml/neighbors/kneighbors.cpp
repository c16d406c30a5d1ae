#include <heatpp/ml/neighbors/kneighbors.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/neighbors.hpp>
#include <heatpp/ml/metrics/classification.hpp>
#include <heatpp/ml/metrics/regression.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/sorting/sets.hpp>

namespace heatpp {

using ml::detail::fitted;

namespace {

void check_targets(const char* op, const Rows& x, const DNDarray& y, bool several) {
  const bool fits = (y.ndim() == 1 || (several && y.ndim() == 2)) && y.shape()[0] == x.size();
  if (!fits)
    detail::raise<ValueError>(op, "got targets of shape {} for {} rows; expected one for each", to_string(y.shape()),
                              x.size());
  detail::check_same_comm(op, x.comm(), y.comm());
}

NearestNeighbors unfitted(const KNeighborsOptions& options) {
  return NearestNeighbors({.n_neighbors = options.n_neighbors, .metric = options.metric});
}

/// Returns the weight of each neighbor, (samples, k) float64 whose rows sum to 1.
at::Tensor weights_of(NeighborWeights weights, const at::Tensor& distances) {
  const auto apart = distances.to(at::kDouble);
  if (weights == NeighborWeights::uniform) return at::full_like(apart, 1.0 / static_cast<double>(apart.size(1)));
  const auto equal = apart.eq(0);
  const auto counts = at::where(equal.any(1, /*keepdim=*/true), equal.to(at::kDouble), apart.reciprocal());
  return counts / counts.sum(1, /*keepdim=*/true);
}

/// Returns f(weights, values) as rows; values are those of `targets` at this rank's neighbors.
template <class F>
DNDarray of_neighbors(const Neighbors& found, NeighborWeights weights, const DNDarray& targets, F f) {
  auto near = targets.index({found.indices});
  if (!found.indices.split()) near = resplit(near, std::nullopt);
  const auto block = f(weights_of(weights, found.distances.larray()), near.larray());
  Shape shape(block.sizes().begin(), block.sizes().end());
  shape[0] = found.indices.shape()[0];
  return detail::wrap(block, found.indices.layout().with(shape, found.indices.split()), found.indices.comm());
}

}  // namespace

KNeighborsClassifier& KNeighborsClassifier::fit(const Rows& x, const DNDarray& y) {
  constexpr auto op = "KNeighborsClassifier.fit";
  ml::detail::check_agreed(op, x, options_);
  check_targets(op, x, y, false);
  const auto labels = ml::detail::as_rows(x, ml::detail::labels_beside(op, x, y));
  auto neighbors = unfitted(options_);
  neighbors.learn(op, x);
  auto [classes, which] = unique_inverse(labels);
  classes_ = resplit(classes, std::nullopt);
  which_ = which;
  neighbors_ = std::move(neighbors);
  return *this;
}

DNDarray KNeighborsClassifier::predict_proba(const Rows& x) const {
  constexpr auto op = "KNeighborsClassifier.predict_proba";
  const auto found = fitted(op, neighbors_).found_for(op, x);
  return of_neighbors(found, options_.weights, which_, [&](const at::Tensor& weights, const at::Tensor& which) {
    return at::zeros({weights.size(0), classes_.size()}, at::kDouble)
        .scatter_add_(1, which, weights)
        .to(found.distances.larray().scalar_type());
  });
}

DNDarray KNeighborsClassifier::predict(const Rows& x) const { return predicted("KNeighborsClassifier.predict", x); }

DNDarray KNeighborsClassifier::predicted(const char* op, const Rows& x) const {
  const auto found = fitted(op, neighbors_).found_for(op, x);
  return of_neighbors(found, options_.weights, which_, [&](const at::Tensor& weights, const at::Tensor& which) {
    const auto uniform = options_.weights == NeighborWeights::uniform;
    const auto votes = at::zeros({weights.size(0), classes_.size()}, at::kDouble)
                           .scatter_add_(1, which, uniform ? at::ones_like(weights) : weights);
    return classes_.larray().index_select(0, votes.argmax(1));
  });
}

double KNeighborsClassifier::score(const Rows& x, const DNDarray& y, const FitOptions& options) const {
  return accuracy_score(y, predicted("KNeighborsClassifier.score", x), {.sample_weight = options.sample_weight});
}

const DNDarray& KNeighborsClassifier::classes() const {
  static_cast<void>(fitted("KNeighborsClassifier.classes", neighbors_));
  return classes_;
}

KNeighborsRegressor& KNeighborsRegressor::fit(const Rows& x, const DNDarray& y) {
  constexpr auto op = "KNeighborsRegressor.fit";
  ml::detail::check_agreed(op, x, options_);
  check_targets(op, x, y, true);
  if (is_complex(y.dtype())) detail::raise<TypeError>(op, "got values of {}; expected real ones", name(y.dtype()));
  const auto values = y.to_device(cpu).astype(inexact_type(y.dtype()));
  if (!all(isfinite(values)).item<bool>())
    detail::raise<ValueError>(op, "got values that are not finite; expected finite ones");
  auto neighbors = unfitted(options_);
  neighbors.learn(op, x);
  neighbors_ = std::move(neighbors);
  values_ = values;
  return *this;
}

DNDarray KNeighborsRegressor::predict(const Rows& x) const { return predicted("KNeighborsRegressor.predict", x); }

DNDarray KNeighborsRegressor::predicted(const char* op, const Rows& x) const {
  const auto found = fitted(op, neighbors_).found_for(op, x);
  return of_neighbors(found, options_.weights, values_, [&](const at::Tensor& weights, const at::Tensor& values) {
    const auto wide = values.to(at::kDouble);
    const auto means = (values.dim() == 3 ? wide * weights.unsqueeze(2) : wide * weights).sum(1);
    return means.to(at::promote_types(values.scalar_type(), found.distances.larray().scalar_type()));
  });
}

double KNeighborsRegressor::score(const Rows& x, const DNDarray& y, const FitOptions& options) const {
  return r2_score(y, predicted("KNeighborsRegressor.score", x), {.sample_weight = options.sample_weight});
}

}  // namespace heatpp
