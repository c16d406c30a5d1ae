#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Whether a number, without its fraction, is in the range of `dtype`. It always is if `dtype` is not whole.
[[nodiscard]] bool is_in_range(const Scalar& number, Dtype dtype);
/// Throws ValueError unless is_in_range().
void check_in_range(const char* op, const Scalar& number, Dtype dtype);
/// Throws TypeError for complex numbers.
void check_real(const char* op, Dtype dtype, const char* what = "an array");
/// Throws TypeError for complex values in a real array.
void check_real(const char* op, Dtype values, Dtype array);
/// Throws TypeError if NumPy refuses the write: floats into whole numbers, signed into unsigned ones, and so on.
void check_kind(const char* op, Dtype values, Dtype array);
/// Checks a number. A whole number may go into any whole dtype; throws ValueError if it is out of the range.
void check_number(const char* op, const Scalar& number, Dtype array);
/// Returns a number as an element of `dtype`, converted as arrays are: whole numbers modulo their range, large ones to
/// infinity.
[[nodiscard]] at::Scalar element_of(const Scalar& number, Dtype dtype);

}  // namespace heatpp::detail
