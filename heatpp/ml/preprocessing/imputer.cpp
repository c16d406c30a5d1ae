#include <heatpp/ml/preprocessing/imputer.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/detail/column_moments.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/preprocessing.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/sorting/sets.hpp>
#include <heatpp/ops/statistics/order.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

constexpr auto op = "SimpleImputer.fit";

/// Returns the most frequent number of a vector, the least one for ties.
double most_frequent(const DNDarray& numbers) {
  const auto [values, counts] = unique_counts(numbers);
  const auto most = max(counts).item<std::int64_t>();
  return min(values.index({counts == most})).item<double>();
}

at::Tensor most_frequent_of_columns(const Rows& rows) {
  auto found = at::empty({rows.features()}, at::kDouble);
  const auto mine = rows.read(0, rows.count()).to(at::kCPU, at::kDouble);
  for (std::int64_t j = 0; j < rows.features(); ++j) {
    const auto column = mine.select(1, j).contiguous();
    found[j] = most_frequent(as_rows(rows, column).index({as_rows(rows, column.isnan().logical_not())}));
  }
  return found;
}

at::Tensor means(const std::vector<Moments>& moments) {
  auto found = at::empty({std::ssize(moments)}, at::kDouble);
  std::ranges::transform(moments, found.mutable_data_ptr<double>(), &Moments::mean);
  return found;
}

void check_columns(const std::vector<Moments>& moments) {
  for (std::size_t j = 0; j < moments.size(); ++j)
    if (!(moments[j].n > 0))
      detail::raise<ValueError>(op, "got a column {} without numbers; expected at least one, or a constant", j);
}

}  // namespace

SimpleImputer& SimpleImputer::fit(const DNDarray& x) {
  const Rows rows(x);
  check_agreed(op, rows, options_);
  check_not_empty(op, rows);
  const auto moments = column_moments(op, rows, nullptr, Missing::left_out);
  if (options_.strategy != Impute::constant) check_columns(moments);
  const auto whole = [&](const at::Tensor& value) { return replicated(value, float64, rows.comm()); };
  switch (options_.strategy) {
    case Impute::mean: statistics_ = whole(means(moments)); break;
    case Impute::median:
      statistics_ = resplit(nanpercentile(x.astype(float64), 50.0, {.axis = 0}), std::nullopt);
      break;
    case Impute::most_frequent: statistics_ = whole(most_frequent_of_columns(rows)); break;
    case Impute::constant: statistics_ = whole(at::full({rows.features()}, options_.fill_value, at::kDouble)); break;
  }
  return *this;
}

DNDarray SimpleImputer::transform(const Rows& x) const {
  constexpr auto transform_op = "SimpleImputer.transform";
  const auto& fill = fitted(transform_op, statistics_);
  check_features(transform_op, x, fill.shape()[0]);
  return mapped(x, x.features(), [&](const at::Tensor& block) {
    return at::where(block.isnan(), fill.larray().to(block.scalar_type()), block);
  });
}

const DNDarray& SimpleImputer::statistics() const { return fitted("SimpleImputer.statistics", statistics_); }

}  // namespace heatpp
