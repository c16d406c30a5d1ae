#include <heatpp/core/promotion.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace heatpp {

bool is_floating(Dtype dtype) { return dtype >= float16 && dtype <= float64; }
bool is_complex(Dtype dtype) { return dtype >= complex64; }
bool is_integral(Dtype dtype) { return dtype >= uint8 && dtype <= int64; }
bool is_whole(Dtype dtype) { return dtype <= int64; }

namespace {

std::atomic<Dtype> default_dtype = float32;

Dtype promote_integers(Dtype a, Dtype b) {
  // Dtypes are ordered by width; only uint8 can meet a signed type of its own width.
  if (a == b) return a;
  if (std::min(a, b) == uint8 && std::max(a, b) == int8) return int16;
  return std::max(a, b);
}

Dtype promote_floats(Dtype a, Dtype b) {
  if (a == b) return a;
  if (std::max(a, b) <= bfloat16) return float32;  // float16 and bfloat16: neither holds the other
  return std::max(a, b);
}

/// Whether floats beside this dtype are double, because float does not hold whole numbers of 32 bits.
bool is_wide(Dtype dtype) { return real_type(dtype) == float64 || (is_integral(dtype) && itemsize(dtype) >= 4); }

Dtype complex_of(Dtype parts) { return parts == float64 ? complex128 : complex64; }

/// Returns the position in bool, unsigned, signed, floating, complex.
int kind(Dtype dtype) {
  return int{dtype != bool_} + int{dtype >= int8} + int{dtype >= float16} + int{is_complex(dtype)};
}

/// Whether the mantissa of a float holds all numbers of a whole dtype (NumPy lets 64 bits pass for float64).
bool fits(Dtype from, Dtype to) {
  if (!is_integral(from) || is_integral(to)) return true;
  const auto parts = real_type(to);
  return parts == float64 || itemsize(from) * 2 <= itemsize(parts);
}

/// Returns the smallest float that holds a float and the whole numbers.
Dtype promote_whole(Dtype whole, Dtype floating) {
  if (fits(whole, floating)) return floating;
  return fits(whole, float32) ? float32 : float64;
}

}  // namespace

Dtype get_default_dtype() { return default_dtype; }

void set_default_dtype(Dtype dtype) {
  if (dtype != float32 && dtype != float64)
    detail::raise<TypeError>("set_default_dtype", "got {}; expected float32 or float64", name(dtype));
  default_dtype = dtype;
}

Dtype Scalar::default_dtype() const {
  const Dtype of_kind[] = {bool_, int64, get_default_dtype(), complex_of(get_default_dtype())};
  return of_kind[value_.index()];
}

Dtype real_type(Dtype dtype) {
  if (dtype == complex64) return float32;
  return dtype == complex128 ? float64 : dtype;
}

Dtype promote_types(Dtype a, Dtype b) {
  if (a == bool_ || b == bool_) return a == bool_ ? b : a;
  if (is_complex(a) || is_complex(b)) return is_wide(a) || is_wide(b) ? complex128 : complex64;
  if (is_floating(a) && is_floating(b)) return promote_floats(a, b);
  if (is_floating(a) || is_floating(b)) return is_floating(a) ? promote_whole(b, a) : promote_whole(a, b);
  return promote_integers(a, b);
}

Dtype result_type(Dtype array, const Scalar& number) {
  if (number.is_complex() && !is_complex(array)) return complex_of(inexact_type(array));
  if (number.is_floating() && is_whole(array)) return inexact_type(array);
  if (number.is_integral() && array == bool_) return int64;
  return array;
}

Dtype inexact_type(Dtype dtype) {
  if (!is_whole(dtype)) return dtype;
  return is_wide(dtype) ? float64 : get_default_dtype();
}

bool can_cast(Dtype from, Dtype to, Casting casting) {
  switch (casting) {
    case Casting::no: return from == to;
    case Casting::safe: return promote_types(from, to) == to && fits(from, to);
    case Casting::same_kind: return kind(from) <= kind(to);
    case Casting::unsafe: return true;
  }
  return false;
}

bool isdtype(Dtype dtype, DtypeKind kind) {
  switch (kind) {
    case DtypeKind::boolean: return dtype == bool_;
    case DtypeKind::signed_integer: return is_integral(dtype) && dtype != uint8;
    case DtypeKind::unsigned_integer: return dtype == uint8;
    case DtypeKind::integral: return is_integral(dtype);
    case DtypeKind::real_floating: return is_floating(dtype);
    case DtypeKind::complex_floating: return is_complex(dtype);
    case DtypeKind::numeric: return dtype != bool_;
  }
  return false;
}

FloatLimits finfo(Dtype dtype) {
  const auto limits = [&](int mantissa, int exponent) {
    const auto eps = std::ldexp(1.0, -mantissa), max = std::ldexp(2 - eps, exponent),
               normal = std::ldexp(1.0, 1 - exponent);
    const auto precision = static_cast<int>(mantissa * std::log10(2.0));
    return FloatLimits{real_type(dtype),
                       static_cast<int>(8 * itemsize(real_type(dtype))),
                       eps,
                       -max,
                       max,
                       normal,
                       normal * eps,
                       normal,
                       precision,
                       std::pow(10.0, -precision)};
  };
  switch (real_type(dtype)) {
    case float16: return limits(10, 15);
    case bfloat16: return limits(7, 127);
    case float32: return limits(23, 127);
    case float64: return limits(52, 1023);
    default: detail::raise<TypeError>("finfo", "got {}; expected a floating or complex dtype", name(dtype));
  }
}

IntegerLimits iinfo(Dtype dtype) {
  if (!is_integral(dtype)) detail::raise<TypeError>("iinfo", "got {}; expected a dtype of whole numbers", name(dtype));
  const auto bits = static_cast<int>(8 * itemsize(dtype));
  if (dtype == uint8) return {8, 0, 255};
  const auto max = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  return {bits, -max - 1, max};
}

}  // namespace heatpp
