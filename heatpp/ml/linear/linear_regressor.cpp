#include <heatpp/ml/linear/linear_regressor.hpp>

#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/linear/detail/targets.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

/// Returns the weighted sum of each column over all ranks, and then the sum of the weights.
at::Tensor weighted_sums(const Rows& rows, const at::Tensor& columns, const std::optional<at::Tensor>& weights) {
  const auto n =
      at::full({1}, weights ? weights->sum().item<double>() : static_cast<double>(rows.count()), at::kDouble);
  auto sums = at::cat({(weights ? columns * weights->unsqueeze(1) : columns).sum(0), n});
  sum_over_ranks(rows, sums, std::nullopt);
  return sums;
}

/// Returns R^2 from sums of squared residuals and of squared deviations of targets.
double r2_of(const std::vector<double>& squares) {
  const auto targets = squares.size() / 2;
  double sum = 0;
  for (std::size_t j = 0; j < targets; ++j) {
    const auto left = squares[j], all = squares[targets + j];
    sum += all > 0 ? 1 - left / all : left > 0 ? 0 : 1;
  }
  return sum / static_cast<double>(targets);
}

}  // namespace

DNDarray LinearRegressor::predict(const Rows& x) const {
  const auto& model = fitted_state("predict");
  check_features(Method(kind_, "predict"), x, model.coef.shape()[1]);
  const auto coef = model.coef.larray().t().contiguous(), intercept = model.intercept.larray();
  const auto y =
      mapped_stored(x, coef.size(1), [&](const RowBlock& block) { return block.times(coef).add_(intercept); });
  return model.single ? as_rows(x, y.larray().select(1, 0)) : y;
}

double LinearRegressor::score(const Rows& x, const DNDarray& y, const FitOptions& options) const {
  const auto& model = fitted_state("score");
  const Method op(kind_, "score");
  check_features(op, x, model.coef.shape()[1]);
  const auto targets = targets_beside(op, x, y);
  const auto columns = model.coef.shape()[0];
  if (targets.values.size(1) != columns)
    detail::raise<ValueError>(op, "got {} targets; expected the {} of the fit", targets.values.size(1), columns);
  const auto weights = weights_beside(op, x, options.sample_weight);
  const auto sums = weighted_sums(x, targets.values, weights);
  const auto deviations = targets.values - sums.slice(0, 0, columns) / sums[columns];
  const auto coef = model.coef.larray().t().contiguous(), intercept = model.intercept.larray();
  Totals squares(static_cast<std::size_t>(2 * columns));
  const auto failure = detail::failure_of([&] {
    for_row_blocks(x, [&](const RowBlock& block, int thread) {
      const auto first = block.first(), last = first + block.rows();
      const auto residual = targets.values.slice(0, first, last) - block.times(coef).add_(intercept);
      auto squared = at::cat({residual, deviations.slice(0, first, last)}, 1).square();
      if (weights) squared *= weights->slice(0, first, last).unsqueeze(1);
      const auto sum = squared.sum(0);
      auto own = squares.of(thread);
      for (std::size_t j = 0; j < own.size(); ++j) own[j] += sum.const_data_ptr<double>()[j];
    });
  });
  return r2_of(squares.over_ranks(x, failure));
}

const FittedPlane& LinearRegressor::fitted_state(const char* what) const {
  return fitted(Method(kind_, what), fitted_);
}

DNDarray LinearRegressor::coef() const {
  const auto& model = fitted_state("coef");
  const auto value = model.coef.larray();
  return replicated(model.single ? value.select(0, 0) : value, model.dtype, model.coef.comm());
}

DNDarray LinearRegressor::intercept() const {
  const auto& model = fitted_state("intercept");
  const auto value = model.intercept.larray();
  return replicated(model.single ? value.select(0, 0) : value, model.dtype, model.coef.comm());
}

}  // namespace heatpp
