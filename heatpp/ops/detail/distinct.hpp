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

/// The key under which T is looked for: all complex numbers with a NaN have one.
template <class T>
[[nodiscard]] KeyOf<T> set_key(T value) {
  const auto key = Keys<T>::of(value);
  return is_nan_key<T>(key) ? static_cast<KeyOf<T>>(Keys<T>::of(std::numeric_limits<T>::quiet_NaN())) : key;
}

/// The distinct keys of a block's elements, rising.
template <class T>
[[nodiscard]] Rows<KeyOf<T>> distinct_keys(const at::Tensor& block);

/// What makes elements one.
enum class Same {
  key,        ///< their keys
  set_key,    ///< their keys, all NaN one
  apart_nan,  ///< their keys, but no NaN equals another
};

/// A block's elements grouped by key.
template <class K>
struct Groups {
  Rows<Entry<K>> entries;    ///< in order of key, then index
  Rows<std::int64_t> group;  ///< of each element, in C order
};
template <class T>
[[nodiscard]] Groups<KeyOf<T>> group_elements(const DNDarray& x, Same same);

/// Sorted rows of all ranks, repartitioned by key such that no key is on two ranks, in order over the ranks, in about
/// equal shares. The splitters are exact quantiles; one exchange of the rows.
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

/// What is on this rank of the distinct elements of an array, and where each element of its block is among them.
struct Distinct {
  at::Tensor values, indices, counts;
  Layout layout;       ///< of the three
  at::Tensor inverse;  ///< with the shape of the block; empty where not asked for
};
[[nodiscard]] Distinct distinct(const DNDarray& x, Same same, bool inverse);

/// Each element's place among the distinct ones, in the layout of the array, and the number of those.
struct Codes {
  DNDarray codes;
  std::int64_t count;
};
[[nodiscard]] Codes codes_of(const DNDarray& x);

/// The layout of a result whose part here has `count` elements: split 0, or uncut where `x` is.
[[nodiscard]] Layout layout_of_parts(std::int64_t count, bool split, const Communicator& comm);

}  // namespace heatpp::detail
