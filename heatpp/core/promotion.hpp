#pragma once

#include <heatpp/core/scalar.hpp>

namespace heatpp {

[[nodiscard]] bool is_floating(Dtype dtype);  ///< float16 .. float64
[[nodiscard]] bool is_complex(Dtype dtype);
[[nodiscard]] bool is_integral(Dtype dtype);  ///< uint8 .. int64, without bool

/// The dtype of an operation on two arrays, by the array API standard; an integer with a float gives that float.
[[nodiscard]] Dtype promote_types(Dtype a, Dtype b);
/// The dtype of an operation on an array and a number: the number wins only by kind.
[[nodiscard]] Dtype result_type(Dtype array, const Scalar& number);
/// The floating dtype in which a function such as sqrt answers: whole numbers become float32.
[[nodiscard]] Dtype inexact_type(Dtype dtype);
/// The dtype of the parts of a complex number, else the dtype itself.
[[nodiscard]] Dtype real_type(Dtype dtype);

}  // namespace heatpp
