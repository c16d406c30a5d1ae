#pragma once

#include <heatpp/ops/sorting/detail/keys.hpp>

namespace heatpp::detail {

/// Sorts keys in rising order. K is an unsigned type of 8 to 128 bits.
template <class K>
void sort_keys(K* keys, std::int64_t n);

/// The keys of a matrix, row by row of `columns` sorted runs: run c of this rank holds `rows` keys of column c.
template <class K>
struct Runs {
  const K* keys;
  std::int64_t columns, rows;
  [[nodiscard]] std::span<const K> column(std::int64_t c) const {
    return {keys + c * rows, static_cast<std::size_t>(rows)};
  }
};

/// The key at one position of a column sorted over all ranks.
template <class K>
struct Splitter {
  K key = 0;
  std::int64_t first = 0, last = 0;  ///< range of equal keys in this rank's run
  std::int64_t below = 0;            ///< smaller keys on all ranks
};

/// Returns the bits of a digit in a search for this many splitters: wide digits need fewer, larger allreduces.
constexpr int digit_bits(std::int64_t splitters) { return splitters <= 256 ? 8 : 4; }
/// Returns the bytes that such a search sums over the ranks.
template <class K>
constexpr std::int64_t splitter_bytes(std::int64_t splitters) {
  const auto bits = digit_bits(splitters);
  const auto digits = 8 * std::int64_t{sizeof(K)} / bits;
  return splitters * digits * ((std::int64_t{1} << bits) - 1) * std::int64_t{sizeof(std::int64_t)};
}

/// Finds the keys at each of `positions` (rising, below the number of keys of a column on all ranks): position p of
/// column c at [c * positions.size() + p]. Digit by digit, with one allreduce of the numbers of smaller keys for each.
template <class K>
[[nodiscard]] std::vector<Splitter<K>> find_splitters(const Runs<K>& runs, std::span<const std::int64_t> positions,
                                                      const Communicator& comm);

/// Sorts each of `columns` columns. Rank r holds keys offsets[r] .. offsets[r + 1] and gets positions targets[r] ..
/// targets[r + 1], which may end before the last. Long columns: a local sort, exact splitters, one exchange of the keys
/// after one of their counts, and a merge. Many short ones: one exchange that brings whole columns together, and one
/// back.
template <class K>
[[nodiscard]] Rows<K> sort_across(Rows<K> keys, std::int64_t columns, std::span<const std::int64_t> offsets,
                                  std::span<const std::int64_t> targets, const Communicator& comm);

/// Sorts `columns` equally long rows of keys in place.
template <class K>
void sort_columns(Rows<K>& keys, std::int64_t columns);

}  // namespace heatpp::detail
