#pragma once

#include <c10/core/ScalarType.h>

#include <heatpp_io/detail/elements/decoding.hpp>

namespace heatpp::io::detail {

/// How elements lie in a file that describes them as NumPy does: "<f4", ">i2", "|b1", "?".
struct StoredType {
  ElementType element;
  c10::ScalarType in_memory = c10::ScalarType::Float;  ///< LibTorch's type of the elements as they are stored
  std::int64_t bytes = 4;
  std::int64_t swapped = 1;  ///< bytes of the numbers whose order has to be turned around; 1: none
};

/// Throws IoError naming `op` and `what` for strings, records, objects, dates and long doubles.
[[nodiscard]] StoredType stored_type(const std::string& description, const std::string& what, const char* op);

/// How its numbers lie in a file, for what attributes say of them.
[[nodiscard]] StoredNumbers stored_numbers(const StoredType& type);

/// How elements of a dtype are described when they are saved; bfloat16 as "<V2", as the Python package ml_dtypes does.
[[nodiscard]] std::string numpy_type(Dtype dtype);

/// Turns the bytes of numbers around and makes any byte but 0 a true bool.
void to_native(const StoredType& type, void* elements, std::int64_t count);

}  // namespace heatpp::io::detail
