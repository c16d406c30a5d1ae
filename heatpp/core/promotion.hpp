#pragma once

#include <heatpp/core/scalar.hpp>

namespace heatpp {

[[nodiscard]] bool is_floating(Dtype dtype);  ///< float16 .. float64
[[nodiscard]] bool is_complex(Dtype dtype);
[[nodiscard]] bool is_integral(Dtype dtype);  ///< uint8 .. int64, without bool
[[nodiscard]] bool is_whole(Dtype dtype);     ///< bool and uint8 .. int64

/// Returns the floating dtype for all that give none, float32 unless set: zeros, linspace, random, numbers in braces,
/// and the results of sqrt or mean of bool and whole numbers of 8 and 16 bits.
[[nodiscard]] Dtype get_default_dtype();
/// Sets the default dtype of this process to float32 or float64. Local; all ranks must set the same before the next
/// array is made. Throws TypeError for another dtype.
void set_default_dtype(Dtype dtype);

/// Returns the dtype of an operation on two arrays, the smallest that holds both, as in NumPy: floats with whole
/// numbers of 32 and 64 bits give float64, of 16 bits at least float32, of 8 bits the float's dtype.
[[nodiscard]] Dtype promote_types(Dtype a, Dtype b);
/// Returns the dtype of an array with a number. The number wins only by kind, and then as inexact_type says.
[[nodiscard]] Dtype result_type(Dtype array, const Scalar& number);
/// Returns the floating dtype of the result of a function such as sqrt: float64 for whole numbers of 32 and 64 bits,
/// the default one for shorter ones and bool.
[[nodiscard]] Dtype inexact_type(Dtype dtype);
/// Returns the dtype of the parts of a complex number, else the dtype itself.
[[nodiscard]] Dtype real_type(Dtype dtype);

/// What a conversion may do: change nothing, keep every value, stay in the kind (or go to a later one of bool,
/// unsigned, signed, floating, complex), or anything.
enum class Casting { no, safe, same_kind, unsafe };
/// Whether `from` may be converted to `to`. Safe are: bool to any, whole numbers to wider ones and to floats that hold
/// them (as in NumPy, 64 bits to float64), floats to wider ones and to complex numbers.
[[nodiscard]] bool can_cast(Dtype from, Dtype to, Casting casting = Casting::safe);

/// Kinds of dtypes, as the array API names them.
enum class DtypeKind { boolean, signed_integer, unsigned_integer, integral, real_floating, complex_floating, numeric };
/// Whether `dtype` is of that kind.
[[nodiscard]] bool isdtype(Dtype dtype, DtypeKind kind);
[[nodiscard]] inline bool issubdtype(Dtype dtype, DtypeKind kind) { return isdtype(dtype, kind); }
[[nodiscard]] inline bool issubdtype(Dtype dtype, Dtype other) { return dtype == other; }

/// Limits of a floating dtype (of its parts if it is complex). Throws TypeError for other dtypes.
struct FloatLimits {
  Dtype dtype;
  int bits;
  double eps;                 ///< the distance from 1 to the next larger number
  double min, max;            ///< the lowest and the largest finite number
  double smallest_normal;     ///< the smallest positive number with full precision; `tiny` is another name
  double smallest_subnormal;  ///< the smallest positive number
  double tiny;
  int precision;      ///< number of decimal digits that are kept
  double resolution;  ///< 10^-precision
};
[[nodiscard]] FloatLimits finfo(Dtype dtype);
/// Limits of a dtype of whole numbers. Throws TypeError for other dtypes.
struct IntegerLimits {
  int bits;
  std::int64_t min, max;
};
[[nodiscard]] IntegerLimits iinfo(Dtype dtype);

}  // namespace heatpp
