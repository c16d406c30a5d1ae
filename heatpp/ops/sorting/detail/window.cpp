#include <heatpp/ops/sorting/detail/window.hpp>

#include <c10/core/ScalarType.h>

#include <heatpp/core/detail/simd.hpp>

#include <algorithm>
#include <type_traits>

namespace heatpp::detail {
namespace {

constexpr std::int64_t lanes = 32;
constexpr std::size_t block_size = 2048;  // elements that all windows read while they are in the first-level cache

struct Counts {
  std::int64_t below = 0, at_low = 0, between = 0, at_high = 0;
};

/// Counts a block and writes elements between to `out`. Few elements are, so most groups are only counted.
template <class T>
inline __attribute__((always_inline)) Counts sift_run(const T* data, std::int64_t n, T low, T high, T* out) {
  using Sum = std::conditional_t<sizeof(T) <= 4, std::int32_t, std::int64_t>;
  const auto is_between = [=](T v) { return (v > low) & (v < high); };
  Counts counts;
  const auto take = [&](const T* first, std::int64_t length) {
    // All counts are bytes, because summing a vector costs more than comparing its elements.
    Sum sum = 0;
    for (std::int64_t j = 0; j < length; ++j) {
      const T v = first[j];
      sum += Sum{v < low} + (Sum{v == low} << 8) + (Sum{is_between(v)} << 16) + (Sum{v == high} << 24);
    }
    if (sum >> 16 & 0xff)
      for (std::int64_t j = 0, next = counts.between; j < length; ++j) {
        out[next] = first[j];
        next += is_between(first[j]);
      }
    counts.below += sum & 0xff;
    counts.at_low += sum >> 8 & 0xff;
    counts.between += sum >> 16 & 0xff;
    counts.at_high += sum >> 24;
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) take(data + i, lanes);
  take(data + i, n - i);
  return counts;
}

#define HEATPP_SIFT(T, name)                                                            \
  HEATPP_SIMD Counts sift_block(const T* data, std::int64_t n, T low, T high, T* out) { \
    return sift_run(data, n, low, high, out);                                           \
  }
AT_FORALL_SCALAR_TYPES(HEATPP_SIFT)
#undef HEATPP_SIFT

}  // namespace

template <class T>
void sift(std::span<const T> column, std::span<Window<T>> windows) {
  for (std::size_t at = 0; at < column.size(); at += block_size) {
    const auto block = column.subspan(at, std::min(block_size, column.size() - at));
    for (auto& window : windows) {
      const auto room = static_cast<std::size_t>(window.between) + block_size + 1;  // one more may be written
      if (window.inside.size() < room) window.inside.resize(2 * room);
      auto* const out = window.inside.data() + window.between;
      const auto found = sift_block(block.data(), std::ssize(block), window.low, window.high, out);
      window.below += found.below;
      window.at_low += found.at_low;
      window.between += found.between;
      if (window.low < window.high) window.at_high += found.at_high;
    }
  }
  for (auto& window : windows) window.inside.resize(static_cast<std::size_t>(window.between));
}

#define HEATPP_INSTANTIATE(T, name) template void sift(std::span<const T>, std::span<Window<T>>);
AT_FORALL_SCALAR_TYPES(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
