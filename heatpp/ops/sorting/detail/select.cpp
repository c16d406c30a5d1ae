#include <heatpp/ops/sorting/detail/select.hpp>

#include <heatpp/ops/sorting/detail/digits.hpp>
#include <heatpp/ops/sorting/detail/runs.hpp>
#include <heatpp/ops/sorting/detail/window.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace heatpp::detail {
namespace {

constexpr std::int64_t sampled = 128;  // one of this many elements

/// Samples elements at places that no period of the data matches.
template <class T>
std::vector<T> sample_of(std::span<const T> column) {
  std::vector<T> sample(column.size() / sampled);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const auto noise = static_cast<std::uint32_t>(i) * 2654435769U >> 25;  // Knuth's hash by the golden ratio, to 127
    sample[i] = column[i * sampled + noise];
  }
  return sample;
}

/// Positions in the sorted sample that very likely enclose some of the wanted ones.
struct Range {
  std::int64_t first, last;
  std::size_t wanted = 1;
};

/// Returns disjoint ranges around positions among n elements, four standard deviations to both sides.
std::vector<Range> ranges_around(std::span<const std::int64_t> positions, std::int64_t n, int ranks) {
  std::vector<Range> ranges;
  for (const auto position : positions) {
    const auto center = position / sampled;
    const auto q = static_cast<double>(position) / static_cast<double>(n);
    const auto deviation = std::sqrt(q * (1 - q) * static_cast<double>(n / sampled));
    const auto margin = static_cast<std::int64_t>(4 * deviation) + ranks + 2;  // a rank's last elements have no sample
    if (!ranges.empty() && center - margin <= ranges.back().last) {
      ranges.back().last = center + margin;
      ++ranges.back().wanted;
    } else ranges.push_back({center - margin, center + margin});
  }
  return ranges;
}

/// Returns the windows that order statistics of a sample bound.
template <class T>
std::vector<Window<T>> windows_in(std::span<const T> column, std::span<const Range> ranges, std::int64_t n,
                                  const Communicator& comm) {
  const auto sample = sample_of(column);
  const auto size = n / sampled - comm.size();  // at least this many
  std::vector<std::int64_t> ends;
  for (const auto& range : ranges)
    for (const auto end : {range.first, range.last}) ends.push_back(std::clamp<std::int64_t>(end, 0, size - 1));
  const auto bounds = select_by_digits(sample.data(), std::ssize(sample), 1, ends, comm);
  using Limits = std::numeric_limits<T>;
  const auto highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const auto lowest = Limits::has_infinity ? -Limits::infinity() : Limits::min();
  std::vector<Window<T>> windows;
  for (std::size_t w = 0; w < ranges.size(); ++w) {
    const T low = ranges[w].first < 0 ? lowest : bounds[2 * w];
    const T high = ranges[w].last < size ? bounds[2 * w + 1] : highest;
    windows.push_back({low, high});
  }
  return windows;
}

/// Returns the elements at these positions of the sorted column, which lie in one window over all ranks. Nothing if one
/// is not in it, except behind a window up to the end, where NaN lies.
template <class T>
std::optional<std::vector<T>> select_in_window(const Window<T>& window, std::span<const std::int64_t> counts,
                                               std::span<const std::int64_t> positions, const Communicator& comm) {
  const auto low = counts[0], between = low + counts[1], high = between + counts[2], end = high + counts[3];
  using Limits = std::numeric_limits<T>;
  const bool up_to_nan = Limits::has_infinity && window.high == Limits::infinity() && window.low == window.low;
  std::vector<std::int64_t> places;
  for (const auto position : positions) {
    if (position < low || (position >= end && !up_to_nan)) return std::nullopt;
    if (position >= between && position < high) places.push_back(position - between);
  }
  const auto found =
      places.empty() ? std::vector<T>() : select_by_digits(window.inside.data(), window.between, 1, places, comm);
  std::vector<T> results;
  auto next = found.begin();
  for (const auto position : positions)
    results.push_back(position < between ? window.low
                      : position < high  ? *next++
                      : position < end   ? window.high
                                         : Limits::quiet_NaN());
  return results;
}

/// Selects among the few elements near the wanted ones. Nothing if these are not there, which is rare.
template <class T>
std::optional<std::vector<T>> select_in_windows(std::span<const T> column, std::span<const std::int64_t> positions,
                                                std::span<const Range> ranges, std::int64_t n,
                                                const Communicator& comm) {
  auto windows = windows_in(column, ranges, n, comm);
  sift(column, std::span(windows));
  std::vector<std::int64_t> counts;
  for (const auto& window : windows)
    counts.insert(counts.end(), {window.below, window.at_low, window.between, window.at_high});
  comm.allreduce(counts);
  std::vector<T> results;
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const auto found = select_in_window(windows[w], std::span(counts).subspan(4 * w, 4),
                                        positions.subspan(results.size(), ranges[w].wanted), comm);
    if (!found) return std::nullopt;
    results.insert(results.end(), found->begin(), found->end());
  }
  return results;
}

/// Selects in columns that this rank holds whole, by sorting.
template <class T>
std::vector<T> select_in_sorted(const T* block, std::int64_t rows, std::int64_t columns,
                                std::span<const std::int64_t> positions) {
  Rows<KeyOf<T>> keys(rows * columns);
  std::transform(block, block + rows * columns, keys.begin(), [](T value) { return Keys<T>::of(value); });
  sort_columns(keys, columns);
  const auto each = static_cast<std::int64_t>(positions.size()) / std::max<std::int64_t>(1, columns);
  std::vector<T> results;
  for (std::int64_t p = 0; p < std::ssize(positions); ++p)
    results.push_back(Keys<T>::element(keys[p / each * rows + positions[static_cast<std::size_t>(p)]]));
  return results;
}

}  // namespace

template <class T>
std::vector<T> select_in_columns(const T* block, std::int64_t rows, std::int64_t columns, std::int64_t n,
                                 std::span<const std::int64_t> positions, const Communicator& comm) {
  constexpr std::int64_t columns_at_once = 16, long_enough = 1 << 17, windows_at_once = 8, worth_sorting = 1 << 13;
  if (comm.size() == 1 && rows <= worth_sorting) return select_in_sorted(block, rows, columns, positions);
  if (columns > columns_at_once || n < long_enough * comm.size())
    return select_by_digits(block, rows, columns, positions, comm);
  std::vector<T> results;
  const auto each = columns > 0 ? positions.size() / static_cast<std::size_t>(columns) : 0;
  for (std::int64_t c = 0; c < columns; ++c) {
    const std::span<const T> column(block + c * rows, static_cast<std::size_t>(rows));
    const auto wanted = positions.subspan(static_cast<std::size_t>(c) * each, each);
    const auto ranges = ranges_around(wanted, n, comm.size());
    const bool few = std::ssize(ranges) <= windows_at_once;
    auto found = few ? select_in_windows(column, wanted, ranges, n, comm) : std::nullopt;
    if (!found) found = select_by_digits(column.data(), rows, 1, wanted, comm);
    results.insert(results.end(), found->begin(), found->end());
  }
  return results;
}

#define HEATPP_INSTANTIATE(T, name)                                                             \
  template std::vector<T> select_in_columns(const T*, std::int64_t, std::int64_t, std::int64_t, \
                                            std::span<const std::int64_t>, const Communicator&);
AT_FORALL_SCALAR_TYPES(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
