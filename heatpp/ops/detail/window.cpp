#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ops/detail/window.hpp>

#include <algorithm>
#include <type_traits>

namespace heatpp::detail {
namespace {

constexpr std::int64_t lanes = 32;
constexpr std::size_t block_size = 2048;  // elements that all windows look at while they are in the first-level cache

struct Counts {
  std::int64_t below = 0, inside = 0;
};

/// Counts a block, and puts what lies inside behind `out` if there is one: few elements do, so that most groups are
/// only counted.
template <class T>
inline __attribute__((always_inline)) Counts sift_run(const T* data, std::int64_t n, T low, T high, T* out) {
  using Sum = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const auto is_inside = [=](T v) { return (v >= low) & (v <= high); };
  Counts counts;
  const auto take = [&](const T* first, std::int64_t length) {
    Sum sum = 0;  // both counts, as adding up a vector costs more than comparing its elements
    for (std::int64_t j = 0; j < length; ++j) sum += Sum{first[j] < low} + (Sum{is_inside(first[j])} << 16);
    if (out && sum >> 16)
      for (std::int64_t j = 0, next = counts.inside; j < length; ++j) {
        out[next] = first[j];
        next += is_inside(first[j]);
      }
    counts.below += sum & 0xffff;
    counts.inside += sum >> 16;
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) take(data + i, lanes);
  take(data + i, n - i);
  return counts;
}

#define HEATPP_SIFT(T)                                                                  \
  HEATPP_SIMD Counts sift_block(const T* data, std::int64_t n, T low, T high, T* out) { \
    return sift_run(data, n, low, high, out);                                           \
  }
HEATPP_SIFT(float)
HEATPP_SIFT(double)
HEATPP_SIFT(std::int32_t)
HEATPP_SIFT(std::int64_t)
#undef HEATPP_SIFT

}  // namespace

template <class T>
void sift(std::span<const T> column, std::span<Window<T>> windows) {
  for (std::size_t at = 0; at < column.size(); at += block_size) {
    const auto block = column.subspan(at, std::min(block_size, column.size() - at));
    for (auto& window : windows) {
      const bool keeps = window.low < window.high;
      const auto room = static_cast<std::size_t>(window.count) + block_size + 1;  // one is written in vain
      if (keeps && window.inside.size() < room) window.inside.resize(2 * room);
      auto* const out = keeps ? window.inside.data() + window.count : nullptr;
      const auto found = sift_block(block.data(), std::ssize(block), window.low, window.high, out);
      window.below += found.below;
      window.count += found.inside;
    }
  }
  for (auto& window : windows)
    if (window.low < window.high) window.inside.resize(static_cast<std::size_t>(window.count));
}

template void sift(std::span<const float>, std::span<Window<float>>);
template void sift(std::span<const double>, std::span<Window<double>>);
template void sift(std::span<const std::int32_t>, std::span<Window<std::int32_t>>);
template void sift(std::span<const std::int64_t>, std::span<Window<std::int64_t>>);

}  // namespace heatpp::detail
