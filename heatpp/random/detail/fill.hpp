#pragma once

#include <ATen/ATen.h>

#include <ATen/Parallel.h>
#include <algorithm>
#include <functional>
#include <heatpp/core/layout.hpp>
#include <heatpp/random/detail/chunks.hpp>
#include <limits>
#include <vector>

namespace heatpp::random::detail {

/// Calls f(global, local, count) for each run of this rank's elements, in C order, that are neighbors in the whole
/// array: the start of the run in the array and in the block, and its length.
template <class F>
void for_each_run(const Layout& layout, int rank, F f) {
  const auto& shape = layout.shape();
  const auto extents = layout.local_shape(rank), first = layout.local_offset(rank);
  if (size_of(extents) == 0) return;
  // A run goes through `axis` and the axes behind it, which the rank holds as a whole.
  auto axis = shape.size();
  std::int64_t inner = 1, run = 1;  // elements of one index along that axis, and of a run
  for (bool whole = true; whole && axis > 0;) {
    --axis;
    whole = extents[axis] == shape[axis];
    inner = run;
    run *= extents[axis];
  }
  const auto runs = size_of(extents) / run;
  for (std::int64_t i = 0; i < runs; ++i) {
    auto global = axis < shape.size() ? first[axis] * inner : 0, rest = i;
    auto stride = axis < shape.size() ? shape[axis] * inner : 1;
    for (auto before = axis; before-- > 0; stride *= shape[before]) {
      global += (first[before] + rest % extents[before]) * stride;
      rest /= extents[before];
    }
    f(global, i * run, run);
  }
}

/// Gives the results of a kernel that fills whole chunks, of this many elements from `lanes` counters, for any range of
/// global indices.
template <class T, std::int64_t length = chunk<T>>
class ChunkSource {
 public:
  using Kernel = std::function<void(std::uint64_t counter, std::int64_t chunks, T* out)>;

  ChunkSource(Kernel kernel, std::uint64_t base) : kernel_(std::move(kernel)), base_(base) {}

  void fill(std::int64_t first, std::int64_t count, T* out) {
    const auto end = first + count;
    const auto head = std::min(end, (first + length - 1) / length * length);
    part(first, head, out);
    const auto chunks = (end - head) / length;
    constexpr std::int64_t worthwhile = 1024;  // chunks for one thread
    at::parallel_for(0, chunks, worthwhile, [&](std::int64_t begin, std::int64_t stop) {
      run(head / length + begin, stop - begin, out + (head - first) + begin * length);
    });
    const auto tail = head + chunks * length;
    part(tail, end, out + (tail - first));
  }

 private:
  void run(std::int64_t first_chunk, std::int64_t chunks, T* out) const {
    kernel_(base_ + static_cast<std::uint64_t>(first_chunk * lanes), chunks, out);
  }
  /// Writes elements of one chunk; short runs follow one another in it.
  void part(std::int64_t first, std::int64_t end, T* out) {
    if (first >= end) return;
    const auto wanted = first / length;
    if (wanted != cached_) run(cached_ = wanted, 1, cache_);
    std::copy(cache_ + (first - wanted * length), cache_ + (end - wanted * length), out);
  }

  Kernel kernel_;
  std::uint64_t base_;
  std::int64_t cached_ = -1;
  T cache_[length] = {};
};

}  // namespace heatpp::random::detail
