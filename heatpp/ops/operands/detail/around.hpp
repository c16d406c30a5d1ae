#pragma once

#include <heatpp/ops/operands/detail/axis_order.hpp>

#include <ATen/Parallel.h>
#include <algorithm>
#include <vector>

namespace heatpp::detail {

/// A contiguous block around some of its axes: (outer, n, inner) elements in C order.
struct Around {
  std::int64_t outer = 1, n = 1, inner = 1;

  [[nodiscard]] std::int64_t others() const { return outer * inner; }
};

/// Turns a block into such an array, in its memory order. It copies only if the elements are not contiguous or the axes
/// are not neighbors there.
struct AroundAxes {
  at::Tensor data;
  AxisOrder order;
  Around extents = {};
  std::vector<std::int64_t> kept = {};  ///< the extents in that order; 1 for these axes
};
[[nodiscard]] AroundAxes around_axes(const at::Tensor& block, at::IntArrayRef axes);
/// Uses the order of the axes, with the given ones last: equal for all blocks of one shape.
[[nodiscard]] AroundAxes before_axes(const at::Tensor& block, at::IntArrayRef axes);

inline constexpr std::int64_t worth_a_thread = 1 << 16;  ///< elements

/// Calls f(first element, rows, out) for each of the outer parts, with the `inner` results to which it adds, on all
/// threads. A single part is cut into several, whose results, zero at first, merge(from, into) joins.
template <class R, class F, class Merge>
void reduce_middle(const Around& extents, R* out, F f, Merge merge) {
  const auto [outer, n, inner] = extents;
  if (outer != 1) {
    const auto grain = std::max<std::int64_t>(1, worth_a_thread / std::max<std::int64_t>(1, n * inner));
    at::parallel_for(0, outer, grain, [&, n = n, inner = inner](std::int64_t first, std::int64_t last) {
      for (auto i = first; i < last; ++i) f(i * n * inner, n, out + i * inner);
    });
    return;
  }
  const auto threads = std::clamp<std::int64_t>(n * inner / worth_a_thread, 1, at::get_num_threads());
  if (threads == 1) return f(0, n, out);
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

/// Returns a block of reals on the CPU in a dtype of AT_DISPATCH_ALL_TYPES: bool as uint8, 16-bit floats as float.
[[nodiscard]] at::Tensor readable(const at::Tensor& block);

/// Calls add(first element, rows, stride, width, repeats, first column) for parts of an (n, inner) array that together
/// are all of it: at most `most` columns at a time. A few columns are read as up to `parallel` ones, several rows
/// beside each other, in which the columns repeat every `repeats`.
template <class T, class F>
void in_columns(const T* data, std::int64_t n, std::int64_t inner, std::int64_t parallel, std::int64_t most, F add) {
  if (inner <= parallel) {
    const auto together = parallel / inner, width = together * inner, tall = n / together;
    if (tall > 0) add(data, tall, width, width, inner, std::int64_t{0});
    if (n % together > 0) add(data + tall * width, n % together, inner, inner, inner, std::int64_t{0});
    return;
  }
  for (std::int64_t first = 0; first < inner; first += most) {
    const auto width = std::min(most, inner - first);
    add(data + first, n, inner, width, width, first);
  }
}

}  // namespace heatpp::detail
