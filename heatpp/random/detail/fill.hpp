#pragma once

#include <ATen/ATen.h>

#include <ATen/Parallel.h>
#include <algorithm>
#include <heatpp/core/layout.hpp>
#include <heatpp/random/detail/chunks.hpp>
#include <limits>
#include <vector>

namespace heatpp::random::detail {

/// Calls f(global, local, count) for each run of elements of this rank's block, in C order, that are neighbours in the
/// whole array: where the run starts in the array and in the block, and its length.
template <class F>
void for_each_run(const Layout& layout, int rank, F f) {
  if (!layout.split()) return f(std::int64_t{0}, std::int64_t{0}, layout.size());
  const auto axis = static_cast<std::size_t>(*layout.split());
  const auto& shape = layout.shape();
  std::int64_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  const auto run = layout.count(rank) * inner;
  if (run == 0) return;
  for (std::int64_t o = 0; o < outer; ++o) f((o * shape[axis] + layout.offset(rank)) * inner, o * run, run);
}

/// The numbers shift + scale * z of a kernel at any range of global indices.
template <class T>
class ChunkSource {
 public:
  ChunkSource(ChunkKernel<T> kernel, Key key, std::uint64_t base, T shift, T scale)
      : kernel_(kernel), key_(key), base_(base), shift_(shift), scale_(scale) {}

  void fill(std::int64_t first, std::int64_t count, T* out) {
    const auto end = first + count;
    const auto head = std::min(end, (first + chunk<T> - 1) / chunk<T> * chunk<T>);
    part(first, head, out);
    const auto chunks = (end - head) / chunk<T>;
    constexpr std::int64_t worthwhile = 1024;  // chunks for one thread
    at::parallel_for(0, chunks, worthwhile, [&](std::int64_t begin, std::int64_t stop) {
      run(head / chunk<T> + begin, stop - begin, out + (head - first) + begin * chunk<T>);
    });
    const auto tail = head + chunks * chunk<T>;
    part(tail, end, out + (tail - first));
  }

 private:
  void run(std::int64_t first_chunk, std::int64_t chunks, T* out) const {
    kernel_(key_, base_ + static_cast<std::uint64_t>(first_chunk * lanes), chunks, shift_, scale_, out);
  }
  /// Elements of one chunk; short runs follow one another in it.
  void part(std::int64_t first, std::int64_t end, T* out) {
    if (first >= end) return;
    const auto wanted = first / chunk<T>;
    if (wanted != cached_) run(cached_ = wanted, 1, cache_);
    std::copy(cache_ + (first - wanted * chunk<T>), cache_ + (end - wanted * chunk<T>), out);
  }

  ChunkKernel<T> kernel_;
  Key key_;
  std::uint64_t base_;
  T shift_, scale_;
  std::int64_t cached_ = -1;
  T cache_[chunk<T>] = {};
};

}  // namespace heatpp::random::detail
