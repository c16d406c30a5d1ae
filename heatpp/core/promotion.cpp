#include <heatpp/core/promotion.hpp>

#include <algorithm>

namespace heatpp {

bool is_floating(Dtype dtype) { return dtype >= float16 && dtype <= float64; }
bool is_complex(Dtype dtype) { return dtype >= complex64; }
bool is_integral(Dtype dtype) { return dtype >= uint8 && dtype <= int64; }

namespace {

Dtype promote_integers(Dtype a, Dtype b) {
  // Dtypes are ordered by width; only uint8 meets a signed type of its own width.
  if (a == b) return a;
  if (std::min(a, b) == uint8 && std::max(a, b) == int8) return int16;
  return std::max(a, b);
}

Dtype promote_floats(Dtype a, Dtype b) {
  if (a == b) return a;
  if (std::max(a, b) <= bfloat16) return float32;  // float16 with bfloat16: neither holds the other
  return std::max(a, b);
}

}  // namespace

Dtype real_type(Dtype dtype) {
  if (dtype == complex64) return float32;
  return dtype == complex128 ? float64 : dtype;
}

Dtype promote_types(Dtype a, Dtype b) {
  if (a == bool_ || b == bool_) return a == bool_ ? b : a;
  if (is_complex(a) || is_complex(b))
    return real_type(a) == float64 || real_type(b) == float64 ? complex128 : complex64;
  if (is_floating(a) && is_floating(b)) return promote_floats(a, b);
  if (is_floating(a) || is_floating(b)) return is_floating(a) ? a : b;
  return promote_integers(a, b);
}

Dtype result_type(Dtype array, const Scalar& number) {
  if (number.is_complex() && !is_complex(array)) return array == float64 ? complex128 : complex64;
  if (number.is_floating() && (is_integral(array) || array == bool_)) return float32;
  if (number.is_integral() && array == bool_) return int64;
  return array;
}

Dtype inexact_type(Dtype dtype) { return dtype <= int64 ? float32 : dtype; }

}  // namespace heatpp
