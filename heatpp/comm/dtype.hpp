#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace heatpp {

/// Element types of arrays and messages.
enum class Dtype : std::int8_t {
  bool_,
  uint8,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128
};

inline constexpr int dtype_count = 12;
inline constexpr auto bool_ = Dtype::bool_;
inline constexpr auto uint8 = Dtype::uint8;
inline constexpr auto int8 = Dtype::int8;
inline constexpr auto int16 = Dtype::int16;
inline constexpr auto int32 = Dtype::int32;
inline constexpr auto int64 = Dtype::int64;
inline constexpr auto float16 = Dtype::float16;
inline constexpr auto bfloat16 = Dtype::bfloat16;
inline constexpr auto float32 = Dtype::float32;
inline constexpr auto float64 = Dtype::float64;
inline constexpr auto complex64 = Dtype::complex64;
inline constexpr auto complex128 = Dtype::complex128;

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t itemsize(Dtype dtype) {
  constexpr std::size_t sizes[dtype_count] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[static_cast<int>(dtype)];
}

/// Returns NumPy's name, e.g. "float32"; bool_ is "bool".
[[nodiscard]] constexpr std::string_view name(Dtype dtype) {
  constexpr std::string_view names[dtype_count] = {"bool",    "uint8",   "int8",      "int16",
                                                   "int32",   "int64",   "float16",   "bfloat16",
                                                   "float32", "float64", "complex64", "complex128"};
  return names[static_cast<int>(dtype)];
}

/// Whether values of the C++ type T are elements of arrays (float16 and bfloat16 have no C++ type).
template <class T>
concept Element = std::is_same_v<T, bool> || std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::int8_t> ||
    std::is_same_v<T, std::int16_t> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, long> ||
    std::is_same_v<T, long long> || std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Returns the dtype of the C++ type T.
template <Element T>
[[nodiscard]] constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return bool_;
  else if constexpr (std::is_same_v<T, std::uint8_t>) return uint8;
  else if constexpr (std::is_same_v<T, std::int8_t>) return int8;
  else if constexpr (std::is_same_v<T, std::int16_t>) return int16;
  else if constexpr (std::is_same_v<T, std::int32_t>) return int32;
  else if constexpr (std::is_integral_v<T>) return int64;
  else if constexpr (std::is_same_v<T, float>) return float32;
  else if constexpr (std::is_same_v<T, double>) return float64;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return complex64;
  else return complex128;
}

}  // namespace heatpp
