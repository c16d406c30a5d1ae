#include <heatpp/comm/detail/schedule/wire.hpp>

#include <heatpp/comm/detail/schedule/combine.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace heatpp::detail {
namespace {

// In int8, a block has a scale and this many values; its largest value is 127 times the scale.
constexpr std::int64_t block = 256;
constexpr std::int64_t block_bytes = block + static_cast<std::int64_t>(sizeof(float));

/// The bits of absolute values are ordered like the values; those of infinity and NaN are above all finite ones.
float scale_of(const float* values, std::int64_t n) {
  std::int32_t largest = 0;
  for (std::int64_t i = 0; i < n; ++i)
    largest = std::max(largest, std::bit_cast<std::int32_t>(values[i]) & std::numeric_limits<std::int32_t>::max());
  const auto value = std::bit_cast<float>(largest);
  return std::isfinite(value) ? value / 127 : std::numeric_limits<float>::quiet_NaN();
}

void encode_block(const float* values, std::int64_t n, std::byte* out) {
  const auto scale = scale_of(values, n);
  std::memcpy(out, &scale, sizeof scale);
  auto* const codes = reinterpret_cast<std::int8_t*>(out + sizeof scale);
  if (!std::isnormal(scale)) {
    std::fill_n(codes, n, std::int8_t{0});
    return;
  }
  // Adding 1.5 * 2^23 rounds to a whole number, ties to even, and puts it in the lowest bits.
  constexpr float shift = 12582912;
  const auto inverse = 1 / scale;
  for (std::int64_t i = 0; i < n; ++i)
    codes[i] = static_cast<std::int8_t>(std::bit_cast<std::int32_t>(values[i] * inverse + shift));
}

void decode_block(const std::byte* in, std::int64_t n, float* values) {
  float scale = 0;
  std::memcpy(&scale, in, sizeof scale);
  const auto* const codes = reinterpret_cast<const std::int8_t*>(in + sizeof scale);
  for (std::int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(codes[i]) * scale;
}

/// Calls f(first, n, offset in bytes) for the blocks of n values.
template <class F>
void for_each_block(std::int64_t n, F f) {
  for (std::int64_t first = 0; first < n; first += block)
    f(first, std::min(block, n - first), first / block * block_bytes);
}

}  // namespace

std::int64_t wire_bytes(Dtype wire, std::int64_t n) {
  if (wire == Dtype::bfloat16) return 2 * n;
  if (wire == Dtype::int8) return n + (n + block - 1) / block * static_cast<std::int64_t>(sizeof(float));
  return 4 * n;
}

void encode(Dtype wire, const float* values, std::int64_t n, std::byte* out) {
  if (wire == Dtype::bfloat16) narrow(bfloat16, values, out, n);
  else if (wire == Dtype::int8)
    for_each_block(n, [&](auto first, auto count, auto offset) { encode_block(values + first, count, out + offset); });
  else std::memcpy(out, values, static_cast<std::size_t>(4 * n));
}

void decode(Dtype wire, const std::byte* in, std::int64_t n, float* values) {
  if (wire == Dtype::bfloat16) widen(bfloat16, in, values, n);
  else if (wire == Dtype::int8)
    for_each_block(n, [&](auto first, auto count, auto offset) { decode_block(in + offset, count, values + first); });
  else std::memcpy(values, in, static_cast<std::size_t>(4 * n));
}

}  // namespace heatpp::detail
