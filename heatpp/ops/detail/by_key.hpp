#pragma once

#include <heatpp/ops/detail/runs.hpp>

namespace heatpp::detail {

/// Elements with one key: the key, their first index in the flattened array, and their number, or what else is summed.
template <class K>
struct Entry {
  K key;
  std::int64_t index, count;
};
template <class K>
[[nodiscard]] bool precedes(const Entry<K>& a, const Entry<K>& b) {
  return a.key != b.key ? a.key < b.key : a.index < b.index;
}

/// Sorted rows of all ranks, repartitioned by key such that no key is on two ranks, in order over the ranks, in about
/// equal shares: the splitters are exact quantiles, which are looked for over the ranks or, of few rows, in the keys of
/// all of them. One exchange of the rows.
template <class R>
struct Routed {
  Rows<R> arrived;                           ///< sorted runs, in the order of their senders
  std::vector<std::int64_t> sent, received;  ///< rows to and from each rank
  Rows<R> merged;                            ///< all of them, sorted
};
template <class R>
[[nodiscard]] Routed<R> route_by_key(const Rows<R>& rows, const Communicator& comm);

/// Answers for the rows that arrived, sent back to where they came from, in the order they were sent.
template <class R>
[[nodiscard]] Rows<std::int64_t> answer(const Routed<R>& routed, const Rows<std::int64_t>& answers,
                                        const Communicator& comm);

}  // namespace heatpp::detail
