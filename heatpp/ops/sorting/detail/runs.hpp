#pragma once

#include <heatpp/comm/communicator.hpp>
#include <heatpp/core/detail/cuts/cut.hpp>
#include <heatpp/ops/sorting/detail/keys.hpp>

namespace heatpp::detail {

/// Sorts keys in rising order. K is an unsigned type of 8 to 128 bits.
template <class K>
void sort_keys(K* keys, std::int64_t n);

/// Returns about how many bytes a search for this many splitters sends, with as many as its rounds take in time.
template <class K>
constexpr std::int64_t search_bytes(std::int64_t splitters) {
  return splitters * (16 * std::int64_t{sizeof(K)} + 64) + (std::int64_t{16} << 10);
}

/// Sorts each of `columns` columns. Rank r holds the keys of its part of `from` and gets the positions of its part of
/// `to`, which may end before the last. Long columns: a local sort, exact splitters, one exchange of the keys after one
/// of their counts, and a merge. Many short ones: one exchange that brings whole columns together, and one back.
template <class K>
[[nodiscard]] Rows<K> sort_across(Rows<K> keys, std::int64_t columns, const Cut& from, const Cut& to,
                                  const Communicator& comm);

/// Sorts `columns` equally long rows of keys in place.
template <class K>
void sort_columns(Rows<K>& keys, std::int64_t columns);

}  // namespace heatpp::detail
