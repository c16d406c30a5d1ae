#include <heatpp/ml/preprocessing/quantile_transformer.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/preprocessing.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ops/statistics/order.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heatpp {
namespace {

using namespace ml::detail;

/// Returns the place of a number in the increasing quantiles, in 0 .. 1; the middle of equal quantiles.
double share_below(std::span<const double> quantiles, double x) {
  if (std::isnan(x)) return x;
  if (x <= quantiles.front()) return 0;
  if (x >= quantiles.back()) return 1;
  const auto low = std::ranges::lower_bound(quantiles, x) - quantiles.begin();   // the first that is not less
  const auto high = std::ranges::upper_bound(quantiles, x) - quantiles.begin();  // the first that is more
  const auto steps = static_cast<double>(std::ssize(quantiles) - 1);
  if (low < high) return static_cast<double>(low + high - 1) / (2 * steps);
  const auto at = static_cast<std::size_t>(low);
  return (static_cast<double>(low - 1) + (x - quantiles[at - 1]) / (quantiles[at] - quantiles[at - 1])) / steps;
}

double number_at(std::span<const double> quantiles, double share) {
  if (std::isnan(share)) return share;
  const auto place = std::clamp(share, 0.0, 1.0) * static_cast<double>(std::ssize(quantiles) - 1);
  const auto low = std::min(static_cast<std::size_t>(place), quantiles.size() - 1);
  const auto high = std::min(low + 1, quantiles.size() - 1);
  return std::lerp(quantiles[low], quantiles[high], place - static_cast<double>(low));
}

/// Returns f(quantiles of the column, number) for all numbers.
template <class F>
DNDarray each_number(const Rows& x, const DNDarray& quantiles, F f) {
  const auto columns = quantiles.larray().t().contiguous();  // each column contiguous
  const auto n = static_cast<std::size_t>(columns.size(1));
  return mapped(x, x.features(), [&](const at::Tensor& block) {
    auto made = block.to(at::kDouble).contiguous().clone();
    auto* number = made.mutable_data_ptr<double>();
    for (std::int64_t i = 0; i < made.size(0); ++i)
      for (std::int64_t j = 0; j < made.size(1); ++j, ++number)
        *number = f(std::span(columns.const_data_ptr<double>() + j * columns.size(1), n), *number);
    return made;
  });
}

// Shares are clipped to this distance from 0 and 1, as in scikit-learn, so that normal numbers stay within 5.2.
constexpr auto threshold = 1e-7;

at::Tensor normal(const at::Tensor& share) {
  return at::special_ndtri(share.to(at::kDouble).clamp(threshold, 1 - threshold));
}

double share_of_normal(double number) {
  constexpr auto close = threshold * (1 + 1e-6);
  const auto share = std::erfc(-number / std::numbers::sqrt2) / 2;
  if (share < close) return 0;
  return share > 1 - close ? 1 : share;
}

}  // namespace

QuantileTransformer& QuantileTransformer::fit(const DNDarray& x) {
  constexpr auto op = "QuantileTransformer.fit";
  check_agreed(op, x, options_);
  const auto here = x.to_device(cpu);
  const Rows rows(here);
  check_not_empty(op, rows);
  if (options_.n_quantiles < 1)
    detail::raise<ValueError>(op, "got {} quantiles; expected at least one", options_.n_quantiles);
  check_all_finite(op, rows, Missing::left_out);
  const auto n = std::min(options_.n_quantiles, rows.size());
  std::vector<double> percent(static_cast<std::size_t>(n), 0.0);
  for (std::size_t i = 1; i < percent.size(); ++i)
    percent[i] = 100.0 * static_cast<double>(i) / static_cast<double>(n - 1);
  quantiles_ = resplit(nanpercentile(here.astype(float64), percent, {.axis = 0}), std::nullopt);
  return *this;
}

DNDarray QuantileTransformer::transform(const Rows& x) const {
  constexpr auto op = "QuantileTransformer.transform";
  const auto& known = fitted(op, quantiles_);
  check_features(op, x, known.shape()[1]);
  const auto shares = each_number(x, known, share_below);
  if (options_.output == QuantileOutput::uniform) return shares;
  return mapped(shares, x.features(), normal);
}

DNDarray QuantileTransformer::inverse_transform(const Rows& z) const {
  constexpr auto op = "QuantileTransformer.inverse_transform";
  const auto& known = fitted(op, quantiles_);
  check_features(op, z, known.shape()[1]);
  if (options_.output == QuantileOutput::uniform) return each_number(z, known, number_at);
  return each_number(z, known, [](std::span<const double> quantiles, double number) {
    return number_at(quantiles, share_of_normal(number));
  });
}

const DNDarray& QuantileTransformer::quantiles() const { return fitted("QuantileTransformer.quantiles", quantiles_); }

}  // namespace heatpp
