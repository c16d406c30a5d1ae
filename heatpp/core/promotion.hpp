#pragma once

#include <heatpp/core/scalar.hpp>

namespace heatpp {

[[nodiscard]] bool is_floating(Dtype dtype);  ///< float16 .. float64
[[nodiscard]] bool is_complex(Dtype dtype);
[[nodiscard]] bool is_integral(Dtype dtype);  ///< uint8 .. int64, without bool
[[nodiscard]] bool is_whole(Dtype dtype);     ///< bool and uint8 .. int64

/// The floating dtype that is meant where none is given, float32 unless set: of zeros, linspace or random, of numbers
/// in braces, and of what sqrt or mean make of bool and whole numbers of 8 and 16 bits.
[[nodiscard]] Dtype get_default_dtype();
/// Sets it for this process to float32 or float64. Local; all ranks must set the same one before the next array is
/// made. Throws TypeError for another dtype.
void set_default_dtype(Dtype dtype);

/// The dtype of an operation on two arrays, the smallest that holds both, as in NumPy: whole numbers of 32 and 64 bits
/// with floats give float64, of 16 bits at least float32, of 8 bits the float itself.
[[nodiscard]] Dtype promote_types(Dtype a, Dtype b);
/// The dtype of an operation on an array and a number: the number wins only by kind, and then as inexact_type says.
[[nodiscard]] Dtype result_type(Dtype array, const Scalar& number);
/// The floating dtype in which a function such as sqrt answers: float64 for whole numbers of 32 and 64 bits, the
/// default one for shorter ones and bool.
[[nodiscard]] Dtype inexact_type(Dtype dtype);
/// The dtype of the parts of a complex number, else the dtype itself.
[[nodiscard]] Dtype real_type(Dtype dtype);

/// What a conversion may do: nothing, keep every value, stay within the kind (or go to a later one of bool, unsigned,
/// signed, floating, complex), anything.
enum class Casting { no, safe, same_kind, unsafe };
/// Whether `from` may be converted to `to`; safely: bool to any, whole numbers to wider ones and to floats that hold
/// them (as in NumPy 64 bits pass for float64), floats to wider ones and to complex numbers.
[[nodiscard]] bool can_cast(Dtype from, Dtype to, Casting casting = Casting::safe);

/// Kinds of dtypes, as the array API names them.
enum class DtypeKind { boolean, signed_integer, unsigned_integer, integral, real_floating, complex_floating, numeric };
/// Whether `dtype` is of that kind.
[[nodiscard]] bool isdtype(Dtype dtype, DtypeKind kind);
[[nodiscard]] inline bool issubdtype(Dtype dtype, DtypeKind kind) { return isdtype(dtype, kind); }
[[nodiscard]] inline bool issubdtype(Dtype dtype, Dtype other) { return dtype == other; }

/// Limits of a floating dtype (of its parts if it is complex). Throws TypeError for others.
struct FloatLimits {
  Dtype dtype;
  int bits;
  double eps;                 ///< the distance from 1 to the next larger number
  double min, max;            ///< the lowest and the largest finite number
  double smallest_normal;     ///< the smallest positive number with full precision; `tiny` is another name
  double smallest_subnormal;  ///< the smallest positive number
  double tiny;
  int precision;      ///< so many decimal digits are kept
  double resolution;  ///< 10^-precision
};
[[nodiscard]] FloatLimits finfo(Dtype dtype);
/// Limits of a dtype of whole numbers. Throws TypeError for others.
struct IntegerLimits {
  int bits;
  std::int64_t min, max;
};
[[nodiscard]] IntegerLimits iinfo(Dtype dtype);

}  // namespace heatpp
