#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <heatpp/ops/detail/elementwise_blocks.hpp>
#include <heatpp/ops/detail/pairs.hpp>

#include <cmath>
#include <numeric>

namespace heatpp::detail::local {
namespace {

/// The dtype in which whole numbers are computed: two bools make int8.
at::ScalarType whole_type(const at::Tensor& a, const at::Tensor& b) {
  const auto type = at::result_type(a, b);
  return type == at::kBool ? at::kChar : type;
}

/// f(a, b) of whole numbers, where dividing by 0 gives 0, and dividing by -1, which can overflow, gives minus(a).
template <class F, class Minus>
at::Tensor divide_whole(const at::Tensor& dividend, const at::Tensor& divisor, F f, Minus minus) {
  const auto type = whole_type(dividend, divisor);
  const auto a = dividend.to(type), b = divisor.to(type);
  const auto zero = at::zeros({}, b.options());
  if (type == at::kByte) return at::where(b == 0, zero, f(a, b.masked_fill(b == 0, 1)));
  const auto result = f(a, b.masked_fill(at::logical_or(b == 0, b == -1), 1));
  return at::where(b == 0, zero, at::where(b == -1, minus(a), result));
}

at::Tensor nothing(const at::Tensor& x) { return at::zeros({}, x.options()); }

/// `result` with f(a, b) where it is NaN: LibTorch's vector code gives that up for quotients beyond its range.
template <class F>
at::Tensor with_large_quotients(at::Tensor result, const at::Tensor& a, const at::Tensor& b, F f) {
  const auto lost = at::isnan(result);
  if (!lost.any().item<bool>()) return result;
  const auto lost_of = [&](const at::Tensor& x) {  // in the common dtype, which may end before a number does
    return at::masked_select(x.to(result.scalar_type()).expand_as(lost), lost).to(at::kCPU, at::kDouble);
  };
  at::Tensor x = lost_of(a);
  const at::Tensor y = lost_of(b);
  std::transform(x.data_ptr<double>(), x.data_ptr<double>() + x.numel(), y.data_ptr<double>(), x.data_ptr<double>(), f);
  return result.masked_scatter_(lost, x.to(result.options()));
}

/// f of the absolute values of whole numbers, which are computed without signs, modulo their range.
template <class F>
at::Tensor of_magnitudes(const at::Tensor& a, const at::Tensor& b, F f) {
  const auto type = at::result_type(a, b);
  return map_pairs(a, b, type, [&](const auto& loop) {
    AT_DISPATCH_INTEGRAL_TYPES(type, "gcd", [&] {
      using Magnitude = std::make_unsigned_t<scalar_t>;
      const auto magnitude = [](scalar_t v) {
        const auto bits = static_cast<Magnitude>(v);
        return static_cast<Magnitude>(v < 0 ? 0 - bits : bits);
      };
      loop(scalar_t(),
           [&](scalar_t left, scalar_t right) { return static_cast<scalar_t>(f(magnitude(left), magnitude(right))); });
    });
  });
}

}  // namespace

bool is_whole(const at::Tensor& a, const at::Tensor& b) { return at::isIntegralType(at::result_type(a, b), true); }

at::Tensor floor_divide(const at::Tensor& a, const at::Tensor& b) {
  const auto f = [](const auto& x, const auto& y) { return at::floor_divide(x, y); };
  return is_whole(a, b) ? divide_whole(a, b, f, [](const auto& x) { return at::neg(x); }) : f(a, b);
}
at::Tensor remainder(const at::Tensor& a, const at::Tensor& b) {
  const auto f = [](const auto& x, const auto& y) { return at::remainder(x, y); };
  if (is_whole(a, b)) return divide_whole(a, b, f, nothing);
  auto result = with_large_quotients(f(a, b), a, b, [](double x, double y) {
    const auto rest = std::fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  });
  return result.copysign_(b);  // a zero has the sign of b too
}
at::Tensor fmod(const at::Tensor& a, const at::Tensor& b) {
  const auto f = [](const auto& x, const auto& y) { return at::fmod(x, y); };
  if (is_whole(a, b)) return divide_whole(a, b, f, nothing);
  return with_large_quotients(f(a, b), a, b, [](double x, double y) { return std::fmod(x, y); });
}

at::Tensor gcd(const at::Tensor& a, const at::Tensor& b) {
  return of_magnitudes(a, b, [](auto x, auto y) { return std::gcd(x, y); });
}
at::Tensor lcm(const at::Tensor& a, const at::Tensor& b) {
  return of_magnitudes(a, b, [](auto x, auto y) {
    const auto common = std::gcd(x, y);
    return common == 0 ? common : x / common * y;
  });
}

}  // namespace heatpp::detail::local
