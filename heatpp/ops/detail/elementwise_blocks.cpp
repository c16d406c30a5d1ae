#include <ATen/ATen.h>

#include <heatpp/ops/detail/elementwise_blocks.hpp>

#include <bit>
#include <cmath>

namespace heatpp::detail::local {
namespace {

/// f of every element of a block of float or double; 16-bit floats go through float.
template <class F>
at::Tensor map_floats(const at::Tensor& x, F f) {
  const auto in = inexact(x);
  if (in.is_complex()) C10_THROW_ERROR(NotImplementedError, "complex numbers");
  if (in.element_size() < 4) return map_floats(in.to(at::kFloat), f).to(in.scalar_type());
  const auto source = in.cpu().contiguous();
  auto out = at::empty_like(source);
  AT_DISPATCH_FLOATING_TYPES(source.scalar_type(), "map_floats", [&] {
    const auto* from = source.const_data_ptr<scalar_t>();
    std::transform(from, from + source.numel(), out.mutable_data_ptr<scalar_t>(), f);
  });
  return out.to(in.device());
}

bool whole(const at::Tensor& a, const at::Tensor& b) { return at::isIntegralType(at::result_type(a, b), true); }

/// f(a, b) of whole numbers, where dividing by 0 gives 0, and dividing by -1, which can overflow, gives minus(a).
template <class F, class Minus>
at::Tensor divide_whole(const at::Tensor& dividend, const at::Tensor& divisor, F f, Minus minus) {
  const auto type = at::result_type(dividend, divisor);
  const auto a = dividend.to(type), b = divisor.to(type);
  const auto result = f(a, b.masked_fill(at::logical_or(b == 0, b == -1), 1));
  return at::where(b == 0, at::zeros({}, result.options()), at::where(b == -1, minus(a), result));
}

at::Tensor nothing(const at::Tensor& x) { return at::zeros({}, x.options()); }

}  // namespace

at::Tensor inexact(const at::Tensor& x) { return at::isIntegralType(x.scalar_type(), true) ? x.to(at::kFloat) : x; }

at::Tensor hypot(const at::Tensor& a, const at::Tensor& b) { return at::hypot(inexact(a), inexact(b)); }
at::Tensor logaddexp(const at::Tensor& a, const at::Tensor& b) { return at::logaddexp(inexact(a), inexact(b)); }
at::Tensor logaddexp2(const at::Tensor& a, const at::Tensor& b) { return at::logaddexp2(inexact(a), inexact(b)); }
at::Tensor nextafter(const at::Tensor& a, const at::Tensor& b) { return at::nextafter(inexact(a), inexact(b)); }

at::Tensor sign(const at::Tensor& x) {
  if (!x.is_floating_point()) return at::sgn(x);
  return at::where(at::isnan(x), x, at::sgn(x));
}

at::Tensor fabs(const at::Tensor& x) {
  if (x.is_complex()) C10_THROW_ERROR(NotImplementedError, "complex numbers");
  return at::abs(inexact(x));
}

at::Tensor cbrt(const at::Tensor& x) {
  return map_floats(x, [](auto v) { return std::cbrt(v); });
}

at::Tensor spacing(const at::Tensor& block) {
  const auto x = inexact(block), size = at::abs(x);
  return at::copysign(at::nextafter(size, at::full({}, INFINITY, x.options())) - size, x);
}

at::Tensor iscomplex(const at::Tensor& x) { return at::logical_not(at::isreal(x)); }
at::Tensor real(const at::Tensor& x) { return x.is_complex() ? at::real(x) : x; }
at::Tensor imag(const at::Tensor& x) { return x.is_complex() ? at::imag(x) : at::zeros_like(x); }

at::Tensor bitwise_count(const at::Tensor& x) {
  const auto source = x.cpu().contiguous();
  auto out = at::empty(x.sizes(), x.options().dtype(at::kByte).device(at::kCPU));
  AT_DISPATCH_INTEGRAL_TYPES(x.scalar_type(), "bitwise_count", [&] {
    const auto* from = source.const_data_ptr<scalar_t>();
    std::transform(from, from + source.numel(), out.mutable_data_ptr<std::uint8_t>(), [](scalar_t v) {
      const auto wide = static_cast<std::int64_t>(v);
      return static_cast<std::uint8_t>(
          std::popcount(wide < 0 ? -static_cast<std::uint64_t>(wide) : static_cast<std::uint64_t>(wide)));
    });
  });
  return out.to(x.device());
}

std::pair<at::Tensor, at::Tensor> modf(const at::Tensor& block) {
  const auto x = inexact(block), whole_part = at::trunc(x);
  // inf - inf would be NaN where NumPy gives a zero with the sign of x.
  const auto fraction = at::where(at::isinf(x), at::zeros({}, x.options()), x - whole_part);
  return {at::copysign(fraction, x), whole_part};
}

at::Tensor floor_divide(const at::Tensor& a, const at::Tensor& b) {
  const auto f = [](const auto& x, const auto& y) { return at::floor_divide(x, y); };
  return whole(a, b) ? divide_whole(a, b, f, [](const auto& x) { return at::neg(x); }) : f(a, b);
}
at::Tensor remainder(const at::Tensor& a, const at::Tensor& b) {
  const auto f = [](const auto& x, const auto& y) { return at::remainder(x, y); };
  return whole(a, b) ? divide_whole(a, b, f, nothing) : f(a, b);
}
at::Tensor fmod(const at::Tensor& a, const at::Tensor& b) {
  const auto f = [](const auto& x, const auto& y) { return at::fmod(x, y); };
  return whole(a, b) ? divide_whole(a, b, f, nothing) : f(a, b);
}

at::Tensor heaviside(const at::Tensor& a, const at::Tensor& b) {
  const auto type = at::result_type(inexact(a), inexact(b));
  return at::heaviside(a.to(type), b.to(type));
}

at::Tensor isclose(const at::Tensor& a, const at::Tensor& b, const CloseOptions& options) {
  const auto type = at::result_type(a, b);
  return at::isclose(a.to(type), b.to(type), options.rtol, options.atol, options.equal_nan);
}

}  // namespace heatpp::detail::local
