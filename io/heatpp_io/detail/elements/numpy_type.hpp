#pragma once

#include <c10/core/ScalarType.h>

#include <heatpp_io/detail/elements/decoding.hpp>

namespace heatpp::io::detail {

/// How elements are stored in a file that describes them as NumPy does: "<f4", ">i2", "|b1", "?".
struct StoredType {
  ElementType element;
  c10::ScalarType in_memory = c10::ScalarType::Float;  ///< LibTorch's type of the stored elements
  std::int64_t bytes = 4;
  std::int64_t swapped = 1;  ///< number of bytes whose order has to be reversed; 1: none
};

/// Throws IoError naming `op` and `what` for strings, records, objects, dates and long doubles.
[[nodiscard]] StoredType stored_type(const std::string& description, const std::string& what, const char* op);

/// Returns how the numbers are stored in a file, for the attributes that decode them.
[[nodiscard]] StoredNumbers stored_numbers(const StoredType& type);

/// Returns the description of a dtype that is saved; bfloat16 is "<V2", as in the Python package ml_dtypes.
[[nodiscard]] std::string numpy_type(Dtype dtype);
/// The description of uint64, which has no dtype.
inline constexpr auto uint64_type = "<u8";

/// Reverses the bytes of numbers, and sets each byte of a bool that is not 0 to 1.
void to_native(const StoredType& type, void* elements, std::int64_t count);

}  // namespace heatpp::io::detail
