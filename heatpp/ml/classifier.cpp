#include <heatpp/ml/classifier.hpp>
#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>

namespace heatpp {

using namespace ml::detail;

namespace {

SparseRows stored(bool known) { return known ? SparseRows::stored : SparseRows::dense; }

}  // namespace

const DNDarray& Classifier::classes() const { return fitted(Method(kind_, "classes"), classes_).values; }

DNDarray Classifier::predict(const Rows& x) const {
  const Method op(kind_, "predict");
  const auto& [labels, features] = fitted(op, classes_);
  check_features(op, x, features);
  const auto f = scores();
  const auto missing = takes_missing() ? Missing::left_out : Missing::refused;
  const auto values = labels.larray();
  auto result = at::empty({x.count()}, at::kLong);
  Totals nothing(0);
  const auto choose = [&](const RowBlock& block, int) {
    block.with_piece([&](const auto& piece) { check_finite(op, x, piece, missing); });
    const auto best = f(block).argmax(1);
    result.slice(0, block.first(), block.first() + block.rows()).copy_(values.index_select(0, best));
  };
  const auto failure = detail::failure_of([&] { for_row_blocks(x, choose, stored(knows_sparse())); });
  static_cast<void>(nothing.over_ranks(x, failure));
  return as_rows(x, result);
}

DNDarray Classifier::scored(const char* what, const Rows& x, at::Tensor (*f)(const at::Tensor&)) const {
  const Method op(kind_, what);
  const auto& [labels, features] = fitted(op, classes_);
  check_features(op, x, features);
  return mapped_stored(
      x, labels.size(), [f, of = scores()](const RowBlock& block) { return f(of(block)); }, stored(knows_sparse()));
}

DNDarray Classifier::predict_log_proba(const Rows& x) const {
  return scored("predict_log_proba", x, [](const at::Tensor& z) { return z.log_softmax(1); });
}

DNDarray Classifier::predict_proba(const Rows& x) const {
  return scored("predict_proba", x, [](const at::Tensor& z) { return z.softmax(1); });
}

double Classifier::score(const Rows& x, const DNDarray& y, const FitOptions& options) const {
  const Method op(kind_, "score");
  check_features(op, x, fitted(op, classes_).features);
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
