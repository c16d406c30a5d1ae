#include <heatpp/ops/elementwise/detail/elementwise_blocks.hpp>

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/detail/run_blocks.hpp>
#include <heatpp/ops/elementwise/detail/run_loop.hpp>
#include <heatpp/ops/elementwise/detail/whole_vectors.hpp>

#include <cmath>

namespace heatpp::detail::local {
namespace {

/// Returns the dtype in which blocks are computed: float for 16-bit floats, else their own.
at::ScalarType without_halves(at::ScalarType type) { return type == at::kDouble ? type : at::kFloat; }

at::Tensor no_bool(const at::Tensor& x) { return x.scalar_type() == at::kBool ? x.to(at::kChar) : x; }
bool whole(const at::Tensor& x) { return at::isIntegralType(x.scalar_type(), true); }

/// Returns f of whole numbers; two bools are int8.
template <class F>
at::Tensor in_whole_numbers(const at::Tensor& a, const at::Tensor& b, F f) {
  if (at::result_type(a, b) == at::kBool) return f(a.to(at::kChar), b.to(at::kChar));
  return f(a, b);
}
/// Returns f of floating numbers in one dtype.
template <class F>
at::Tensor in_floating(const at::Tensor& a, const at::Tensor& b, F f) {
  const auto type = at::result_type(a, b);
  return f(a.to(type), b.to(type));
}
/// Returns f of the parts of complex numbers. LibTorch would multiply by 1 first, which makes NaN of infinity.
template <class F>
at::Tensor in_parts(const at::Tensor& a, const at::Tensor& b, F f) {
  const auto type = at::result_type(a, b);
  if (!at::isComplexType(type)) return f(a, b);
  return at::view_as_complex(
      f(at::view_as_real(a.to(type).resolve_conj()), at::view_as_real(b.to(type).resolve_conj())));
}
template <class F>
at::Tensor in_parts(const at::Tensor& x, F f) {
  return x.is_complex() ? at::view_as_complex(f(at::view_as_real(x.resolve_conj())).contiguous()) : f(x);
}

bool is_number(const at::Tensor& block) { return block.unsafeGetTensorImpl()->is_wrapped_number(); }
bool is_whole_number(const at::Tensor& block) { return is_number(block) && block.scalar_type() == at::kLong; }
/// Returns the dtype of the other blocks if they are whole numbers next to a number.
std::optional<Dtype> whole_type_of_others(std::span<const at::Tensor> blocks) {
  if (std::ranges::none_of(blocks, is_whole_number)) return std::nullopt;
  auto type = at::kBool;
  for (const auto& block : blocks)
    if (!is_whole_number(block)) type = at::promoteTypes(type, block.scalar_type());
  return at::isIntegralType(type, false) ? std::optional(from_torch(type)) : std::nullopt;
}
/// Returns a number as an array of its dtype, which does not give way to that of others.
at::Tensor alone(const at::Tensor& block) {
  return is_number(block) ? at::scalar_tensor(block.item(), block.options()) : block;
}

/// Returns z / |z|; for a number with one infinite part, the sign of that part.
at::Tensor complex_sign(const at::Tensor& z) {
  const auto re = at::real(z), im = at::imag(z), far = at::isinf(re), high = at::isinf(im);
  const auto zero = at::zeros({}, re.options()), nan = at::full({}, NAN, re.options());
  const auto unit = at::complex(at::where(far, at::where(high, nan, at::sgn(re)), zero),
                                at::where(high, at::where(far, nan, at::sgn(im)), zero));
  const auto size = runs::modulus(z),
             finite = in_parts(z, [&](const auto&parts) { return parts / size.unsqueeze(-1); });
  return at::where(far.logical_or(high), unit, at::where(size == 0, at::zeros({}, z.options()), finite));
}

/// Computes the hyperbolic function f of x, and beyond(x) where e^x overflows but half of it does not; LibTorch's
/// vector code is infinite there.
template <class F, class G>
at::Tensor hyperbolic(const at::Tensor& x, F f, G beyond) {
  const auto result = f(x);
  if (x.is_complex() || x.numel() == 0) return result;
  const double end = x.scalar_type() == at::kDouble ? 709 : 88;
  const auto [low, high] = at::aminmax(x);
  if (low.template item<double>() >= -end && high.template item<double>() <= end) return result;
  const auto wide = x.to(without_halves(x.scalar_type())), root = at::exp(at::abs(wide) / 2);
  return at::where(at::abs(wide) > end, beyond(root / 2 * root, wide).to(x.scalar_type()), result);
}

/// Returns the distance to the next larger number for both signs, as NumPy does for float16 only.
at::Tensor half_spacing(const at::Tensor& x) {
  const auto bits = x.view(at::kShort), next = at::where(x < 0, bits - 1, bits + 1).view(at::kHalf);
  return at::abs(next.to(at::kFloat) - x.to(at::kFloat)).masked_fill(at::isinf(x), NAN).to(at::kHalf);
}

}  // namespace

at::Tensor inexact(const at::Tensor& x) { return x.to(to_torch(inexact_type(from_torch(x.scalar_type())))); }

void convert_to_meet(std::vector<at::Tensor>& blocks, Dtype dtype) {
  if (at::result_type(blocks[0], blocks[1]) == to_torch(dtype)) return;
  // A complex number makes floats complex.
  const bool by_number = std::ranges::any_of(blocks, [](const auto& b) { return is_number(b) && b.is_complex(); });
  const auto type = to_torch(by_number ? real_type(dtype) : dtype);
  for (auto& block : blocks)
    if (!is_number(block) && !block.is_complex()) block = block.to(type);
}

void check_numbers(const char* op, std::span<const at::Tensor> blocks) {
  if (const auto type = whole_type_of_others(blocks))
    for (const auto& block : blocks)
      if (is_whole_number(block)) check_in_range(op, block.item<std::int64_t>(), *type);
}

void widen_to_numbers(std::vector<at::Tensor>& blocks) {
  const auto type = whole_type_of_others(blocks);
  const auto is_beyond = [&](const at::Tensor& block) {
    return is_whole_number(block) && !is_in_range(block.item<std::int64_t>(), *type);
  };
  if (type && std::ranges::any_of(blocks, is_beyond))
    for (auto& block : blocks) block = block.to(at::kLong);
}

void widen_halves(std::vector<at::Tensor>& blocks) {
  if (std::ranges::none_of(blocks, [](const auto& block) { return block.is_complex(); })) return;
  for (auto& block : blocks)
    if (block.scalar_type() == at::kHalf) block = block.to(at::kFloat);
}

bool needs_double(const at::Tensor& block) {
  constexpr std::int64_t held = 256;  // every floating dtype holds whole numbers up to this
  if (!is_whole_number(block)) return at::isIntegralType(block.scalar_type(), false);
  const auto number = block.item<std::int64_t>();
  return number < -held || number > held;
}

void compare_in_double(std::vector<at::Tensor>& blocks) {
  if (std::ranges::none_of(blocks, needs_double)) return;
  for (auto& block : blocks)
    if (block.is_floating_point()) block = alone(block.to(at::kDouble));
}

void write(const at::Tensor& x, const at::Tensor& result) {
  if (!at::canCast(result.scalar_type(), x.scalar_type())) C10_THROW_ERROR(TypeError, "the result is of another kind");
  x.copy_(result);
}

at::Tensor abs(const at::Tensor& x) {
  if (x.scalar_type() == at::kBool) return x;
  return x.is_complex() ? runs::modulus(x) : at::abs(x);
}
at::Tensor negative(const at::Tensor& x) {
  return in_parts(x, [](const auto& y) { return at::neg(y); });
}
at::Tensor square(const at::Tensor& x) {
  return x.is_complex() ? in_whole_vectors(x, at::square, at::square_out) : at::square(no_bool(x));
}
at::Tensor exp2(const at::Tensor& x) { return in_whole_vectors(x, at::exp2, at::exp2_out); }
at::Tensor arctanh(const at::Tensor& x) { return in_whole_vectors(x, at::atanh, at::atanh_out); }
at::Tensor reciprocal(const at::Tensor& x) {
  if (x.is_complex()) return complex_reciprocal(x);
  if (!whole(x)) return at::reciprocal(x);
  const auto number = no_bool(x);
  return at::where(at::abs(number) == 1, number, at::zeros({}, number.options()));
}
at::Tensor floor(const at::Tensor& x) { return whole(x) ? x : at::floor(x); }
at::Tensor ceil(const at::Tensor& x) { return whole(x) ? x : at::ceil(x); }
at::Tensor trunc(const at::Tensor& x) { return whole(x) ? x : at::trunc(x); }
at::Tensor rint(const at::Tensor& x) { return local::round(x, 0); }
at::Tensor round(const at::Tensor& block, int decimals) {
  const bool truth = block.scalar_type() == at::kBool;
  if (truth && decimals != 0) C10_THROW_ERROR(NotImplementedError, "decimals of bool");
  const auto x = truth ? inexact(block) : block;
  if (!whole(x))
    return in_parts(x, [=](const auto& y) { return decimals == 0 ? at::round(y) : at::round(y, decimals); });
  if (decimals >= 0) return x;
  const auto unit = std::pow(10.0, -decimals);
  return (at::round(x.to(at::kDouble) / unit) * unit).to(at::kLong).to(x.scalar_type());
}
at::Tensor angle(const at::Tensor& x) {
  return x.is_complex() ? angle_in_whole_vectors(x) : local::arctan2(at::zeros({}, x.options()), x);
}

at::Tensor sign(const at::Tensor& x) {
  if (x.scalar_type() == at::kBool) C10_THROW_ERROR(NotImplementedError, "bool");
  if (x.is_complex()) return complex_sign(x);
  return runs::sign(x);
}

at::Tensor fabs(const at::Tensor& x) {
  if (x.is_complex()) C10_THROW_ERROR(NotImplementedError, "complex numbers");
  return at::abs(x);
}

at::Tensor cbrt(const at::Tensor& x) {
  if (x.is_complex()) C10_THROW_ERROR(NotImplementedError, "complex numbers");
  return runs::cbrt(x.to(without_halves(x.scalar_type()))).to(x.scalar_type());
}

at::Tensor sinh(const at::Tensor& x) {
  return hyperbolic(
      x, [](const auto& y) { return in_whole_vectors(y, at::sinh, at::sinh_out); },
      [](const auto& size, const auto& y) { return at::copysign(size, y); });
}
at::Tensor cosh(const at::Tensor& x) {
  return hyperbolic(
      x, [](const auto& y) { return in_whole_vectors(y, at::cosh, at::cosh_out); },
      [](const auto& size, const auto&) { return size; });
}

at::Tensor spacing(const at::Tensor& x) {
  if (x.scalar_type() == at::kHalf) return half_spacing(x);
  const auto size = at::abs(x);
  return at::copysign(at::nextafter(size, at::full({}, INFINITY, x.options())) - size, x);
}

at::Tensor iscomplex(const at::Tensor& x) { return at::logical_not(at::isreal(x)); }
at::Tensor conj(const at::Tensor& x) { return at::conj_physical(no_bool(x)); }
at::Tensor real(const at::Tensor& x) { return x.is_complex() ? at::real(x) : at::alias(x); }
at::Tensor imag(const at::Tensor& x) { return x.is_complex() ? at::imag(x) : at::zeros_like(x); }

std::pair<at::Tensor, at::Tensor> modf(const at::Tensor& block) {
  const auto x = inexact(block), whole_part = at::trunc(x);
  // inf - inf would be NaN. NumPy gives a zero with the sign of x.
  const auto fraction = at::where(at::isinf(x), at::zeros({}, x.options()), x - whole_part);
  return {at::copysign(fraction, x), whole_part};
}

at::Tensor add(const at::Tensor& a, const at::Tensor& b) {
  return in_parts(a, b, [](const auto& x, const auto& y) { return at::add(x, y); });
}
at::Tensor subtract(const at::Tensor& a, const at::Tensor& b) {
  const auto type = at::result_type(a, b);
  const auto number = [&](const at::Tensor& x) {
    return x.scalar_type() == at::kBool && type != at::kBool ? x.to(type) : x;
  };
  return in_parts(number(a), number(b), [](const auto& x, const auto& y) { return at::sub(x, y); });
}

at::Tensor multiply(const at::Tensor& a, const at::Tensor& b) {
  return a.is_complex() || b.is_complex() ? in_whole_vectors(a, b, at::mul, at::mul_out) : at::mul(a, b);
}
at::Tensor divide(const at::Tensor& a, const at::Tensor& b) {
  return a.is_complex() || b.is_complex() ? in_whole_vectors(a, b, at::div, at::div_out) : at::div(a, b);
}

namespace {

/// Returns the parts of what is added to a complex block; a number has the block's dtype.
at::Tensor parts_beside(const at::Tensor& x, const at::Tensor& b) {
  return at::view_as_real((b.is_complex() && !is_number(b) ? b : b.to(x.scalar_type())).resolve_conj());
}

}  // namespace

void add_(const at::Tensor& x, const at::Tensor& b) {
  if (x.is_complex()) at::view_as_real(x).add_(parts_beside(x, b));
  else x.add_(b);
}
void subtract_(const at::Tensor& x, const at::Tensor& b) {
  if (x.is_complex()) at::view_as_real(x).sub_(parts_beside(x, b));
  else x.sub_(b.scalar_type() == at::kBool && x.scalar_type() != at::kBool ? b.to(x.scalar_type()) : b);
}
void multiply_(const at::Tensor& x, const at::Tensor& b) {
  if (x.is_complex()) write(x, local::multiply(x, b));
  else x.mul_(b);
}
void divide_(const at::Tensor& x, const at::Tensor& b) {
  if (x.is_complex()) write(x, local::divide(x, b));
  else x.div_(b);
}

at::Tensor power(const at::Tensor& a, const at::Tensor& b) {
  if (is_whole(a, b) && is_number(b) && b.item<std::int64_t>() < 0)
    raise<ValueError>("power", "got the exponent {} for whole numbers; expected none negative", b.item<std::int64_t>());
  if (const auto type = at::result_type(a, b); at::isComplexType(type)) return complex_power(a, b, type);
  if (is_number(b) && a.is_floating_point() && b.item<double>() == 2) return at::square(a);
  if (is_number(b) && a.is_floating_point() && b.item<double>() == 3) return at::pow(a, 3);  // two products
  return in_whole_numbers(a, b,
                          [](const auto& x, const auto& y) { return in_whole_vectors(x, y, at::pow, at::pow_out); });
}
at::Tensor float_power(const at::Tensor& a, const at::Tensor& b) {
  if (a.is_complex() || b.is_complex()) return complex_power(a, b, at::kComplexDouble);
  return in_whole_vectors(a.to(at::kDouble), b.to(at::kDouble), at::pow, at::pow_out);
}
at::Tensor left_shift(const at::Tensor& a, const at::Tensor& b) {
  return in_whole_numbers(a, b, [](const auto& x, const auto& y) { return at::bitwise_left_shift(x, y); });
}
at::Tensor right_shift(const at::Tensor& a, const at::Tensor& b) {
  return in_whole_numbers(a, b, [](const auto& x, const auto& y) { return at::bitwise_right_shift(x, y); });
}

at::Tensor arctan2(const at::Tensor& a, const at::Tensor& b) {
  return in_whole_vectors(a, b, at::atan2, at::atan2_out);
}
at::Tensor hypot(const at::Tensor& a, const at::Tensor& b) { return in_whole_vectors(a, b, at::hypot, at::hypot_out); }
at::Tensor logaddexp2(const at::Tensor& a, const at::Tensor& b) {
  return in_whole_vectors(a, b, at::logaddexp2, at::logaddexp2_out);
}
at::Tensor nextafter(const at::Tensor& a, const at::Tensor& b) {
  return in_floating(a, b, [](const auto& x, const auto& y) { return at::nextafter(x, y); });
}

at::Tensor logaddexp(const at::Tensor& a, const at::Tensor& b) {
  if (a.is_complex() || b.is_complex()) C10_THROW_ERROR(NotImplementedError, "complex numbers");
  return in_whole_vectors(a, b, at::logaddexp, at::logaddexp_out);
}

at::Tensor ldexp(const at::Tensor& a, const at::Tensor& b) {
  if (a.is_complex()) C10_THROW_ERROR(NotImplementedError, "complex numbers");
  // Exponents do not affect the dtype, except that a number takes the one that corresponds to theirs.
  const auto type = to_torch(inexact_type(from_torch(is_number(a) ? b.scalar_type() : a.scalar_type())));
  const auto wide = without_halves(type);
  return runs::ldexp(a.to(wide), b.to(wide)).to(type);
}

at::Tensor heaviside(const at::Tensor& a, const at::Tensor& b) {
  return in_floating(a, b,
                     [](const auto& x, const auto& y) { return at::where(at::isnan(x), x, at::heaviside(x, y)); });
}
at::Tensor isclose(const at::Tensor& a, const at::Tensor& b, const CloseOptions& options) {
  auto type = at::result_type(a, b);
  if (whole(a) || whole(b)) type = at::promoteTypes(type, at::kDouble);
  const auto x = alone(a.to(type)), y = alone(b.to(type));
  const auto near = at::le(at::abs(x - y), at::abs(y) * options.rtol + options.atol);
  auto close = at::eq(x, y).logical_or_(near.logical_and(at::isfinite(y)));
  if (options.equal_nan) close.logical_or_(at::isnan(x).logical_and(at::isnan(y)));
  return close;
}

}  // namespace heatpp::detail::local
