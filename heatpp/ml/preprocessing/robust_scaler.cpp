#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/detail/options/preprocessing.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/preprocessing/scalers.hpp>
#include <heatpp/ops/statistics/order.hpp>

#include <limits>

namespace heatpp {
namespace {

using namespace ml::detail;

/// Returns the quantile of the standard normal distribution for this many percent.
double normal_quantile(double percent) {
  return at::special_ndtri(at::scalar_tensor(percent / 100, at::kDouble)).item<double>();
}

}  // namespace

RobustScaler& RobustScaler::fit(const DNDarray& x) {
  constexpr auto op = "RobustScaler.fit";
  check_agreed(op, x, options_);
  const auto [low, high] = options_.quantile_range;
  if (!(0 <= low && low < high && high <= 100))
    detail::raise<ValueError>(op, "got quantiles at {} and {}; expected 0 <= low < high <= 100", low, high);
  const auto here = x.to_device(cpu);
  const Rows rows(here);
  check_not_empty(op, rows);
  check_all_finite(op, rows, Missing::left_out);
  const auto wide = here.astype(float64);
  const auto found = resplit(nanpercentile(wide, std::vector{low, 50.0, high}, {.axis = 0}), std::nullopt).larray();
  auto spread = found[2] - found[0];
  spread = at::where(spread < 10 * std::numeric_limits<double>::epsilon(), 1.0, spread);
  if (options_.unit_variance) spread = spread / (normal_quantile(high) - normal_quantile(low));
  const auto whole = [&](const at::Tensor& value) { return replicated(value, float64, x.comm()); };
  fitted_ = Fitted{whole(options_.with_centering ? found[1] : at::zeros_like(spread)),
                   whole(options_.with_scaling ? spread : at::ones_like(spread))};
  return *this;
}

const DNDarray& RobustScaler::center() const { return fitted_state("center").shift; }

}  // namespace heatpp
