#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Whether a number, without its fraction, is in the range of `dtype`. Those for dtypes that are not whole always are.
[[nodiscard]] bool is_in_range(const Scalar& number, Dtype dtype);
/// Throws ValueError where it is not.
void check_in_range(const char* op, const Scalar& number, Dtype dtype);
/// Throws TypeError for complex numbers.
void check_real(const char* op, Dtype dtype, const char* what = "an array");
/// Throws TypeError for complex values of a real array.
void check_real(const char* op, Dtype values, Dtype array);
/// Throws TypeError for what NumPy refuses to write: floats into whole numbers, signed into unsigned ones, and so on.
void check_kind(const char* op, Dtype values, Dtype array);
/// The same for a number, which has the sign that it has: ValueError where it is not in the range of the array.
void check_number(const char* op, const Scalar& number, Dtype array);
/// A number as an element of `dtype`, converted as arrays are: whole numbers modulo their range, large ones to
/// infinity.
[[nodiscard]] at::Scalar element_of(const Scalar& number, Dtype dtype);

}  // namespace heatpp::detail
