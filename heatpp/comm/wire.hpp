#pragma once

#include <cstdint>
#include <string_view>

namespace heatpp {

// gcc 12 warns of scoped names that dtypes have, too.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
/// How float32 values travel between nodes.
enum class Wire : std::int8_t {
  float32,
  bfloat16,
  int8,   ///< whole numbers up to 127 and a float32 scale for each 256 values
  int4,   ///< whole numbers up to 7 and a bfloat16 scale for each 64 values
  float4  ///< 0, 0.5, 1, 1.5, 2, 3, 4, 6 with a sign, and a power of two for each 32 values (Rouhani et al. 2023,
          ///< MXFP4)
};
#pragma GCC diagnostic pop

[[nodiscard]] constexpr std::string_view name(Wire wire) {
  constexpr std::string_view names[] = {"float32", "bfloat16", "int8", "int4", "float4"};
  return names[static_cast<int>(wire)];
}
/// Returns the bits of a value, without its share of a scale.
[[nodiscard]] constexpr int wire_bits(Wire wire) {
  constexpr int numbers[] = {32, 16, 8, 4, 4};
  return numbers[static_cast<int>(wire)];
}
/// Returns the bytes that n values take in one message, with their scales.
[[nodiscard]] std::int64_t wire_bytes(Wire wire, std::int64_t n);

}  // namespace heatpp
