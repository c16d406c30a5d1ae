#include <heatpp/ml/classifier.hpp>
#include <heatpp/ml/detail/classes.hpp>

namespace heatpp {

using namespace ml::detail;

void Classifier::check_fitted(const char* op) const {
  if (!classes_)
    throw NotFittedError(fmt::format("[{}] got a classifier without data yet; expected a call of fit", op));
}

const DNDarray& Classifier::classes() const {
  check_fitted("classes");
  return classes_->values;
}

DNDarray Classifier::predict(const Rows& x) const {
  constexpr auto op = "predict";
  check_fitted(op);
  check_features(op, x, classes_->features);
  const auto f = scores();
  const auto missing = takes_missing() ? Missing::left_out : Missing::refused;
  const auto values = classes_->values.larray();
  auto result = at::empty({x.count()}, at::kLong);
  Totals nothing(0);
  const auto failure = detail::failure_of([&] {
    for_blocks(x, [&](const at::Tensor& block, std::int64_t first, int) {
      with_piece(block, first, [&](const auto& piece) { check_finite(op, x, piece, missing); });
      const auto best = f(block.to(at::kDouble)).argmax(1);
      result.slice(0, first, first + block.size(0)).copy_(values.index_select(0, best));
    });
  });
  static_cast<void>(nothing.over_ranks(x, failure));
  return as_rows(x, result);
}

DNDarray Classifier::predict_log_proba(const Rows& x) const {
  check_fitted("predict_log_proba");
  check_features("predict_log_proba", x, classes_->features);
  return mapped(x, classes_->values.size(),
                [f = scores()](const at::Tensor& block) { return f(block.to(at::kDouble)).log_softmax(1); });
}

DNDarray Classifier::predict_proba(const Rows& x) const {
  check_fitted("predict_proba");
  check_features("predict_proba", x, classes_->features);
  return mapped(x, classes_->values.size(),
                [f = scores()](const at::Tensor& block) { return f(block.to(at::kDouble)).softmax(1); });
}

double Classifier::score(const Rows& x, const DNDarray& y, const FitOptions& options) const {
  constexpr auto op = "score";
  const auto predicted = predict(x).larray();
  const auto truth = labels_beside(op, x, y);
  const auto weights = weights_beside(op, x, options.sample_weight);
  const auto right = (predicted == truth).to(at::kDouble);
  const auto w = weights ? *weights : at::ones({x.count()}, at::kDouble);
  auto sums = at::stack({(right * w).sum(), w.sum()});
  sum_over_ranks(x, sums, std::nullopt);
  return (sums[0] / sums[1]).item<double>();
}

}  // namespace heatpp
