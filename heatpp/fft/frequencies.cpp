#include <heatpp/fft/fft.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/with_dtype.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/shape/detail/along.hpp>

namespace heatpp::fft {
namespace {

DNDarray rolled(const char* op, const DNDarray& x, const Axes& given, int sign) {
  auto axes = given.values();
  for (int axis = 0; given.all() && axis < x.ndim(); ++axis) axes.push_back(axis);
  std::vector<std::int64_t> shifts;
  for (const auto axis : axes) shifts.push_back(sign * (detail::extent_of(x, sanitize_axis(axis, x.ndim(), op)) / 2));
  return roll(x, shifts, axes);
}

}  // namespace

DNDarray fftfreq(std::int64_t n, double d, const ArrayOptions& options) {
  if (n < 1 || d == 0) detail::raise<ValueError>("fftfreq", "got n {}, d {}; expected n >= 1 and d other than 0", n, d);
  const auto i = arange(n, heatpp::detail::with_dtype(options, float64));
  const auto cycles = where(i < static_cast<double>((n + 1) / 2), i, i - static_cast<double>(n));
  return (cycles * (1 / (static_cast<double>(n) * d))).astype(options.dtype.value_or(get_default_dtype()));
}
DNDarray rfftfreq(std::int64_t n, double d, const ArrayOptions& options) {
  if (n == 0 || d == 0) detail::raise<ValueError>("rfftfreq", "got n {}, d {}; expected others than 0", n, d);
  const auto i = arange(n < 0 ? 0 : n / 2 + 1, heatpp::detail::with_dtype(options, float64));
  return (i * (1 / (static_cast<double>(n) * d))).astype(options.dtype.value_or(get_default_dtype()));
}

DNDarray fftshift(const DNDarray& x, const Axes& axes) { return rolled("fftshift", x, axes, 1); }
DNDarray ifftshift(const DNDarray& x, const Axes& axes) { return rolled("ifftshift", x, axes, -1); }

}  // namespace heatpp::fft
