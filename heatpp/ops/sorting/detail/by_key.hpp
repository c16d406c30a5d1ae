#pragma once

#include <heatpp/core/detail/route.hpp>
#include <heatpp/ops/operands/detail/bisect.hpp>
#include <heatpp/ops/sorting/detail/runs.hpp>

#include <algorithm>
#include <optional>

namespace heatpp::detail {

/// Whether two keys are equal. Keys from `apart` on, if it is given, never are.
template <class K>
struct SameKey {
  std::optional<K> apart = std::nullopt;
  [[nodiscard]] bool is_apart(K key) const { return apart && key >= *apart; }
  bool operator()(K a, K b) const { return a == b && !is_apart(a); }
};

/// Returns the first of rising keys from `place` on that is not before `key`, which exists: by single steps without
/// branches, which would be mispredicted.
template <class K>
[[nodiscard]] std::int64_t place_from(std::int64_t place, const Rows<K>& keys, K key) {
  for (int i = 0; i < 4; ++i) place += keys[place] < key;
  if (keys[place] >= key) return place;
  return place + count_few_before(keys.data() + place, keys.size() - place, [key](K other) { return other < key; });
}

/// Rising keys of all ranks, redistributed so that each key is on one rank only, in order over the ranks, in about
/// equal shares. Values of the keys follow as columns, in the order of the keys.
template <class K>
struct ByKey : Route {
  Rows<K> arrived;   ///< rising from each rank, in the order of the ranks
  Rows<K> distinct;  ///< the different ones, rising

  /// Sends a column of the sent keys to where they arrived. One exchange.
  template <class V>
  [[nodiscard]] Rows<V> there(const Rows<V>& column) const {
    return Rows<V>(Route::there(column.bytes()));
  }
  /// Sends a column of the keys that arrived back to their senders. One exchange.
  template <class V>
  [[nodiscard]] Rows<V> back(const Rows<V>& column) const {
    return Rows<V>(Route::back(column.bytes()));
  }
  /// Calls f(i, place) for each key i that arrived with the first place of its key among the distinct ones.
  template <class F>
  void each_place(F f) const {
    std::int64_t i = 0;
    for (const auto& from : received)
      for (std::int64_t last = i + from.count, place = 0; i < last; ++i) {
        place = place_from(place, distinct, arrived[i]);
        f(i, place);
      }
  }
};

/// The most bytes of keys that every rank gathers, for any number of ranks.
inline constexpr std::int64_t most_gathered_bytes = std::int64_t{4} << 20;
/// Whether all ranks see all of `total` keys, because these are fewer bytes than a search for the quantiles sends.
template <class K>
[[nodiscard]] constexpr bool gathers_keys(std::int64_t total, int ranks) {
  return total * std::int64_t{sizeof(K)} <= std::min(search_bytes<K>(ranks - 1), most_gathered_bytes);
}

/// Redistributes by quantiles, found over the ranks; one exchange each of counts and keys. If keys are few, all
/// ranks see all instead (`gathers_keys`). A single rank keeps its keys; no two of them may be equal.
template <class K>
[[nodiscard]] ByKey<K> by_key(Rows<K> keys, const Communicator& comm, const SameKey<K>& same = {});

}  // namespace heatpp::detail
