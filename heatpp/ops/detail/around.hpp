#pragma once

#include <heatpp/ops/detail/axis_order.hpp>

#include <ATen/Parallel.h>
#include <algorithm>
#include <vector>

namespace heatpp::detail {

/// A contiguous block around one of its axes, or neighbouring ones: (outer, n, inner) elements in C order.
struct Around {
  std::int64_t outer = 1, n = 1, inner = 1;

  [[nodiscard]] std::int64_t others() const { return outer * inner; }
};
[[nodiscard]] Around around(const at::Tensor& block, std::int64_t axis);

/// A block as a contiguous (outer, n, inner) array in which n runs over some of its axes. Copied only where its
/// elements do not fill their memory, or these axes are no neighbours there, or not the last ones and are to be.
struct AroundAxes {
  at::Tensor data;
  AxisOrder order;
  Around extents = {};
  std::vector<std::int64_t> kept = {};  ///< the extents in that order, 1 for these axes
};
[[nodiscard]] AroundAxes around_axes(const at::Tensor& block, at::IntArrayRef axes, bool last = false);

/// Calls f(first element, rows, out) for each of the outer parts, with the `inner` results that it adds to, on as many
/// threads as are set. A single part is cut into several, whose results, zero before, are joined by merge(from, into).
template <class R, class F, class Merge>
void reduce_middle(const Around& extents, R* out, F f, Merge merge) {
  constexpr std::int64_t worthwhile = 1 << 16;  // elements for one thread
  const auto [outer, n, inner] = extents;
  if (outer != 1) {
    const auto grain = std::max<std::int64_t>(1, worthwhile / std::max<std::int64_t>(1, n * inner));
    at::parallel_for(0, outer, grain, [&, n = n, inner = inner](std::int64_t first, std::int64_t last) {
      for (auto i = first; i < last; ++i) f(i * n * inner, n, out + i * inner);
    });
    return;
  }
  const auto threads = std::clamp<std::int64_t>(n * inner / worthwhile, 1, at::get_num_threads());
  std::vector<R> parts(static_cast<std::size_t>(threads * inner));
  at::parallel_for(0, threads, 1, [&, n = n, inner = inner](std::int64_t begin, std::int64_t end) {
    for (auto t = begin; t < end; ++t) {
      const auto first = n * t / threads, last = n * (t + 1) / threads;
      f(first * inner, last - first, parts.data() + t * inner);
    }
  });
  for (std::int64_t t = 0; t < threads; ++t)
    for (std::int64_t i = 0; i < inner; ++i) merge(parts[static_cast<std::size_t>(t * inner + i)], out[i]);
}

/// A block of real numbers on the CPU in a dtype of AT_DISPATCH_ALL_TYPES: bool as uint8, 16-bit floats as float.
[[nodiscard]] at::Tensor readable(const at::Tensor& block);

}  // namespace heatpp::detail
