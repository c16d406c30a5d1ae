#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>

namespace heatpp::detail {

/// Two sorted runs, partly consumed, and the destination of the rest.
template <class R>
struct Merge {
  const R *left, *left_end, *right, *right_end;
  R* out;

  /// Returns the number of elements that can be taken without checking the end of a run.
  [[nodiscard]] std::ptrdiff_t safe_steps() const { return std::min(left_end - left, right_end - right); }
  template <class Less>
  void step(Less less) {
    const R a = *left, b = *right;
    const bool take_right = less(b, a);
    *out++ = take_right ? b : a;
    right += take_right;
    left += !take_right;
  }
};

/// Cuts a merge into `lanes` parts of equal length, as "merge path" does (Green, McColl, Bader 2012).
template <std::size_t lanes, class R, class Less>
std::array<Merge<R>, lanes> cut_merge(const Merge<R>& whole, Less less) {
  std::array<Merge<R>, lanes> parts;
  const auto n_left = whole.left_end - whole.left, n_right = whole.right_end - whole.right;
  auto rest = whole;
  for (std::size_t i = 0; i < lanes; ++i) {
    const auto end = (n_left + n_right) * static_cast<std::ptrdiff_t>(i + 1) / static_cast<std::ptrdiff_t>(lanes);
    auto low = std::max<std::ptrdiff_t>(0, end - n_right), high = std::min(n_left, end);
    while (low < high) {
      const auto middle = (low + high) / 2;
      if (less(whole.right[end - middle - 1], whole.left[middle])) high = middle;
      else low = middle + 1;
    }
    parts[i] = {rest.left, whole.left + low, rest.right, whole.right + (end - low), rest.out};
    rest = {parts[i].left_end, whole.left_end, parts[i].right_end, whole.right_end, whole.out + end};
  }
  return parts;
}

/// Merges two sorted runs; of two equal elements the left one comes first. Four parts run in parallel, because each
/// step of one waits for the step before.
template <class R, class Less>
void merge_two(std::span<const R> left, std::span<const R> right, R* out, Less less) {
  auto parts = cut_merge<4>(
      Merge<R>{left.data(), left.data() + left.size(), right.data(), right.data() + right.size(), out}, less);
  const auto safe = [&] {
    auto steps = parts[0].safe_steps();
    for (const auto& part : parts) steps = std::min(steps, part.safe_steps());
    return steps;
  };
  for (auto steps = safe(); steps > 0; steps = safe()) {
    auto lanes = parts;  // own copies, which the compiler can keep in registers
    for (; steps > 0; --steps)
      for (auto& lane : lanes) lane.step(less);
    parts = lanes;
  }
  for (auto& part : parts) {
    while (part.safe_steps() > 0) part.step(less);
    std::copy(part.right, part.right_end, std::copy(part.left, part.left_end, part.out));
  }
}

/// Merges sorted runs into `out`; of two equal elements, that of the earlier run comes first. `spare` has the same
/// size. Both may be where the runs lie, one after another. Returns where the result is: in `out`, or, for a single
/// run, in its place, unless that is `spare`.
template <class R, class Less>
std::span<const R> merge_runs(std::span<const std::span<const R>> runs, R* out, R* spare, Less less) {
  if (runs.empty()) return {};
  if (runs.size() == 1) {
    if (runs.front().data() != spare) return runs.front();
    return {out, std::ranges::copy(runs.front(), out).out};  // `spare` is about to be written
  }
  const auto half = runs.size() / 2;
  std::size_t left_size = 0;
  for (const auto run : runs.first(half)) left_size += run.size();
  const auto left = merge_runs<R>(runs.first(half), spare, out, less);
  const auto right = merge_runs<R>(runs.subspan(half), spare + left_size, out + left_size, less);
  merge_two(left, right, out, less);
  return {out, left.size() + right.size()};
}

/// Merges runs that lie in `from`, one after another, and writes to both. Returns the one with the result.
template <class R, class Rows>
Rows merge_between(std::span<const std::span<const R>> runs, Rows& from, Rows& other) {
  const bool ends_there = std::bit_width(std::max<std::size_t>(1, runs.size()) - 1) % 2 == 1;  // after so many merges
  auto& result = ends_there ? other : from;
  merge_runs<R>(runs, result.data(), (ends_there ? from : other).data(), std::less<>());
  return result;
}

}  // namespace heatpp::detail
