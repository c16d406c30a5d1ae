#include <heatpp/comm/detail/schedule/wire.hpp>

#include <heatpp/comm/detail/schedule/combine.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace heatpp {
namespace detail {
namespace {

constexpr auto not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Returns the largest absolute value, or a value that is not finite if there is one: the bits of absolute values are
/// ordered like the values, and those of infinity and NaN are above all finite ones.
float largest_of(const float* values, std::int64_t n) {
  std::int32_t largest = 0;
  for (std::int64_t i = 0; i < n; ++i)
    largest = std::max(largest, std::bit_cast<std::int32_t>(values[i]) & std::numeric_limits<std::int32_t>::max());
  return std::bit_cast<float>(largest);
}

/// Adding 1.5 * 2^23 rounds to a whole number, ties to even, and puts it in the lowest bits.
std::int32_t rounded(float x) {
  constexpr float shift = 12582912;
  return std::bit_cast<std::int32_t>(x + shift) - std::bit_cast<std::int32_t>(shift);
}

/// Two codes of four bits in a byte, the first one in the low bits.
void pack_codes(const std::uint8_t* codes, std::int64_t n, std::byte* out) {
  for (std::int64_t i = 0; i < n / 2; ++i) out[i] = static_cast<std::byte>(codes[2 * i] | codes[2 * i + 1] << 4);
  if (n % 2 == 1) out[n / 2] = static_cast<std::byte>(codes[n - 1]);
}
std::uint8_t unpacked(const std::byte* in, std::int64_t i) {
  return static_cast<std::uint8_t>(std::to_integer<unsigned>(in[i / 2]) >> (i % 2 * 4) & 15U);
}

// A format has blocks of values with one scale. It stores a scale in `scale_bytes`, and puts codes behind it.

struct Int8 {
  static constexpr std::int64_t block = 256, scale_bytes = sizeof(float), bits = 8;
  static float scale_for(float largest) { return largest / 127; }
  static void store(float scale, std::byte* out) { std::memcpy(out, &scale, sizeof scale); }
  static float load(const std::byte* in) {
    float scale = 0;
    std::memcpy(&scale, in, sizeof scale);
    return scale;
  }
  static void encode(const float* values, std::int64_t n, float inverse, std::byte* out) {
    auto* const codes = reinterpret_cast<std::int8_t*>(out);
    for (std::int64_t i = 0; i < n; ++i) codes[i] = static_cast<std::int8_t>(rounded(values[i] * inverse));
  }
  static void decode(const std::byte* in, std::int64_t n, float scale, float* values) {
    const auto* const codes = reinterpret_cast<const std::int8_t*>(in);
    for (std::int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(codes[i]) * scale;
  }
};

struct Int4 {
  static constexpr std::int64_t block = 64, scale_bytes = 2, bits = 4;
  /// Rounded up to bfloat16, so that the largest value is at most 7 scales.
  static float scale_for(float largest) {
    const auto exact = std::bit_cast<std::uint32_t>(largest / 7);
    return std::bit_cast<float>((exact + 0xffffU) & 0xffff0000U);
  }
  static void store(float scale, std::byte* out) {
    const auto high = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(scale) >> 16);
    std::memcpy(out, &high, sizeof high);
  }
  static float load(const std::byte* in) {
    std::uint16_t high = 0;
    std::memcpy(&high, in, sizeof high);
    return std::bit_cast<float>(static_cast<std::uint32_t>(high) << 16);
  }
  static void encode(const float* values, std::int64_t n, float inverse, std::byte* out) {
    std::array<std::uint8_t, block> codes;
    for (std::int64_t i = 0; i < n; ++i)
      codes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(rounded(values[i] * inverse) & 15);
    pack_codes(codes.data(), n, out);
  }
  static void decode(const std::byte* in, std::int64_t n, float scale, float* values) {
    for (std::int64_t i = 0; i < n; ++i) values[i] = static_cast<float>((unpacked(in, i) ^ 8) - 8) * scale;
  }
};

struct Float4 {
  static constexpr std::int64_t block = 32, scale_bytes = 1, bits = 4;
  static constexpr std::array<float, 16> numbers = {0,    0.5F,  1,  1.5F,  2,  3,  4,  6,
                                                    -0.F, -0.5F, -1, -1.5F, -2, -3, -4, -6};
  /// The power of two by which the largest value is at most 6.
  static float scale_for(float largest) {
    const auto bits_of = std::bit_cast<std::uint32_t>(largest / 6);
    return std::bit_cast<float>((bits_of + 0x7fffffU) & 0x7f800000U);
  }
  /// The exponent alone; 255 is NaN.
  static void store(float scale, std::byte* out) {
    out[0] = static_cast<std::byte>(std::bit_cast<std::uint32_t>(scale) >> 23 & 255U);
  }
  static float load(const std::byte* in) {
    const auto exponent = std::to_integer<std::uint32_t>(in[0]);
    return exponent == 255 ? not_a_number : std::bit_cast<float>(exponent << 23);
  }
  /// Neighbours are 0.5 apart below 2, 1 below 4, then 2. Codes count them, so that ties go to even codes.
  static std::uint8_t code_of(float x) {
    const auto size = std::abs(x);
    const auto code = size < 2 ? rounded(2 * size) : size < 4 ? rounded(size) + 2 : rounded(size / 2) + 4;
    return static_cast<std::uint8_t>(code | (x < 0 ? 8 : 0));
  }
  static void encode(const float* values, std::int64_t n, float inverse, std::byte* out) {
    std::array<std::uint8_t, block> codes;
    for (std::int64_t i = 0; i < n; ++i) codes[static_cast<std::size_t>(i)] = code_of(values[i] * inverse);
    pack_codes(codes.data(), n, out);
  }
  static void decode(const std::byte* in, std::int64_t n, float scale, float* values) {
    for (std::int64_t i = 0; i < n; ++i) values[i] = numbers[unpacked(in, i)] * scale;
  }
};

template <class Format>
constexpr std::int64_t block_bytes(std::int64_t n) {
  return Format::scale_bytes + (n * Format::bits + 7) / 8;
}

template <class Format>
std::int64_t bytes_in(std::int64_t n) {
  const auto rest = n % Format::block;
  return n / Format::block * block_bytes<Format>(Format::block) + (rest > 0 ? block_bytes<Format>(rest) : 0);
}

/// Calls f(first, n, offset in bytes) for the blocks of n values.
template <class Format, class F>
void for_each_block(std::int64_t n, F f) {
  for (std::int64_t first = 0; first < n; first += Format::block)
    f(first, std::min(Format::block, n - first), first / Format::block * block_bytes<Format>(Format::block));
}

/// Values too small for a scale become 0.
template <class Format>
void encode_block(const float* values, std::int64_t n, std::byte* out) {
  const auto largest = largest_of(values, n);
  auto scale = std::isfinite(largest) ? Format::scale_for(largest) : not_a_number;
  if (!std::isnan(scale) && !std::isnormal(scale)) scale = 0;
  Format::store(scale, out);
  auto* const codes = out + Format::scale_bytes;
  if (std::isnormal(scale)) Format::encode(values, n, 1 / scale, codes);
  else std::fill_n(codes, block_bytes<Format>(n) - Format::scale_bytes, std::byte{0});
}

template <class Format>
void encode_as(const float* values, std::int64_t n, std::byte* out) {
  for_each_block<Format>(
      n, [&](auto first, auto count, auto offset) { encode_block<Format>(values + first, count, out + offset); });
}

template <class Format>
void decode_as(const std::byte* in, std::int64_t n, float* values) {
  for_each_block<Format>(n, [&](auto first, auto count, auto offset) {
    const auto* const block = in + offset;
    Format::decode(block + Format::scale_bytes, count, Format::load(block), values + first);
  });
}

}  // namespace

void encode(Wire wire, const float* values, std::int64_t n, std::byte* out) {
  switch (wire) {
    case Wire::float32: std::memcpy(out, values, static_cast<std::size_t>(4 * n)); return;
    case Wire::bfloat16: narrow(bfloat16, values, out, n); return;
    case Wire::int8: encode_as<Int8>(values, n, out); return;
    case Wire::int4: encode_as<Int4>(values, n, out); return;
    case Wire::float4: encode_as<Float4>(values, n, out); return;
  }
}

void decode(Wire wire, const std::byte* in, std::int64_t n, float* values) {
  switch (wire) {
    case Wire::float32: std::memcpy(values, in, static_cast<std::size_t>(4 * n)); return;
    case Wire::bfloat16: widen(bfloat16, in, values, n); return;
    case Wire::int8: decode_as<Int8>(in, n, values); return;
    case Wire::int4: decode_as<Int4>(in, n, values); return;
    case Wire::float4: decode_as<Float4>(in, n, values); return;
  }
}

}  // namespace detail

std::int64_t wire_bytes(Wire wire, std::int64_t n) {
  switch (wire) {
    case Wire::float32: return 4 * n;
    case Wire::bfloat16: return 2 * n;
    case Wire::int8: return detail::bytes_in<detail::Int8>(n);
    case Wire::int4: return detail::bytes_in<detail::Int4>(n);
    case Wire::float4: return detail::bytes_in<detail::Float4>(n);
  }
  return 4 * n;
}

}  // namespace heatpp
