#pragma once

#include <heatpp/core/detail/route.hpp>
#include <heatpp/ops/operands/detail/bisect.hpp>
#include <heatpp/ops/sorting/detail/runs.hpp>

#include <optional>

namespace heatpp::detail {

/// Whether two keys are one: equal ones, but for those from `apart` on, where it is given.
template <class K>
struct SameKey {
  std::optional<K> apart = std::nullopt;
  [[nodiscard]] bool is_apart(K key) const { return apart && key >= *apart; }
  bool operator()(K a, K b) const { return a == b && !is_apart(a); }
};

/// The first of rising keys from `place` on that is not before `key`, which is among them: by single steps without
/// branches, which would be mispredicted, before any others.
template <class K>
[[nodiscard]] std::int64_t place_from(std::int64_t place, const Rows<K>& keys, K key) {
  for (int i = 0; i < 4; ++i) place += keys[place] < key;
  if (keys[place] >= key) return place;
  return place + count_few_before(keys.data() + place, keys.size() - place, [key](K other) { return other < key; });
}

/// Rising keys of all ranks, repartitioned such that no key is on two ranks, in order over the ranks, in about equal
/// shares. Values that belong to the keys follow as columns, in the order of the keys.
template <class K>
struct ByKey : Route {
  Rows<K> arrived;   ///< rising from each rank, in the order of the ranks
  Rows<K> distinct;  ///< those that are not one, rising

  /// A column of the keys that were sent, where they arrived. One exchange.
  template <class V>
  [[nodiscard]] Rows<V> there(const Rows<V>& column) const {
    return Rows<V>(Route::there(column.bytes()));
  }
  /// A column of the keys that arrived, where they came from. One exchange.
  template <class V>
  [[nodiscard]] Rows<V> back(const Rows<V>& column) const {
    return Rows<V>(Route::back(column.bytes()));
  }
  /// Calls f(i, place) for each key i that arrived with the first place of its key among the distinct ones.
  template <class F>
  void each_place(F f) const {
    std::int64_t i = 0;
    for (const auto count : received)
      for (std::int64_t last = i + count, place = 0; i < last; ++i) {
        place = place_from(place, distinct, arrived[i]);
        f(i, place);
      }
  }
};

/// The splitters are exact quantiles, which are looked for over the ranks; one exchange each of counts and keys. Of few
/// keys all ranks see all instead. One rank keeps its keys, of which no two may be the same.
template <class K>
[[nodiscard]] ByKey<K> by_key(Rows<K> keys, const Communicator& comm, const SameKey<K>& same = {});

}  // namespace heatpp::detail
