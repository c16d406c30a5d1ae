#pragma once

#include <heatpp/ops/sorting/detail/keys.hpp>

#include <span>
#include <vector>

/// The search for the places at which sorted runs of all ranks are cut. It knows no message: the ranks compute the same
/// from sums of what they count, so that a program can play one of many ranks and count what it sends.
namespace heatpp::detail {

/// The keys of a matrix, row by row of `columns` sorted runs: run c of this rank holds `rows` keys of column c.
template <class K>
struct Runs {
  const K* keys;
  std::int64_t columns, rows;
  [[nodiscard]] std::span<const K> column(std::int64_t c) const {
    return {keys + c * rows, static_cast<std::size_t>(rows)};
  }
};

/// What the ranks tell each other. All sizes and bounds are the same on all of them.
template <class K>
class SplitterMessages {
 public:
  virtual ~SplitterMessages() = default;
  /// Replaces values, none of which is negative, by their sums over all ranks. No sum exceeds `most`.
  virtual void sum(std::span<std::int64_t> values, std::int64_t most) = 0;
  /// Replaces values by their sums over the ranks before this one.
  virtual void sum_before(std::span<std::int64_t> values, std::int64_t most) = 0;
  /// Collects keys: every rank has written its own, and 0 elsewhere.
  virtual void join(std::span<K> keys) = 0;
};

/// How many ranks the keys of a column lie on, how many keys these are, and those on ranks before this one.
struct SpreadKeys {
  int ranks;
  std::int64_t before, total;

  /// Returns the number of keys that the search looks at first.
  [[nodiscard]] std::int64_t samples() const;
  /// Returns the place of one of them in the runs, joined in rank order. Those of a rank are spread over its run, and
  /// those of all ranks over the values of equally distributed runs (multiples of the golden ratio).
  [[nodiscard]] std::int64_t place_of_sample(std::int64_t i) const;
};

/// Where a sorted column is cut at a position: at its key, which is one of low .. high, until both are the same.
template <class K>
struct Splitter {
  K low = 0, high = 0;
  std::int64_t first = 0, last = 0;     ///< this rank's keys from low to high
  std::int64_t below = 0, through = 0;  ///< on all ranks: keys below `low`, and keys up to `high`
  int misses = 0, bisections = 0;       ///< interpolations that failed, and steps to go before the next one
  bool near_low = true;                 ///< whether most keys seem to be close to `low`, else to `high`
  [[nodiscard]] bool is_found() const { return low == high || below == through; }
};

/// Finds splitters at `positions` (rising, below the number of keys of a column on all ranks): position p of column c
/// at [c * positions.size() + p]. If `slack` is more than 0, each may be up to as many keys too low. Samples, a
/// histogram of them (Harsh, Kale, Solomonik: Histogram Sort with Sampling, SPAA 2019), interpolation between its keys,
/// and a look at the few keys that remain.
template <class K>
[[nodiscard]] std::vector<Splitter<K>> find_splitters(const Runs<K>& runs, const SpreadKeys& spread,
                                                      std::span<const std::int64_t> positions, std::int64_t slack,
                                                      SplitterMessages<K>& messages);

/// Returns how many of this rank's keys lie before each position, if equal keys are in rank order.
template <class K>
[[nodiscard]] std::vector<std::int64_t> cuts_of(std::span<const Splitter<K>> splitters,
                                                std::span<const std::int64_t> positions, SplitterMessages<K>& messages);

}  // namespace heatpp::detail
