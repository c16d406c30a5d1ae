#pragma once

#include <heatpp/core/detail/cuts/cut.hpp>
#include <heatpp/ops/sorting/detail/keys.hpp>
#include <heatpp/ops/sorting/search.hpp>

#include <functional>

namespace heatpp::detail {

/// Returns the place of each key in the part of a sorted array that this rank holds, counted in the whole. Local.
template <class K>
using FindHere = std::function<Rows<std::int64_t>(const Rows<K>&)>;

/// What ranks need to find the owner of a place: this rank's first key, none if its part is empty, and the cut.
template <class K>
struct FirstKey {
  Rows<K> key;
  Cut cut;
};

/// Sends each key to the rank in whose part of a sorted array its place lies, and the places that `find` returns there
/// back. The array has elements. Collective: an all-gather of the first key of each rank, and a route.
template <class K>
[[nodiscard]] Rows<std::int64_t> found_by_owners(const FirstKey<K>& mine, const Rows<K>& wanted, Side side,
                                                 const Communicator& comm, const FindHere<K>& find);

/// Does so without a key of each rank. Consecutive ranks form groups, about sqrt(P) of sqrt(P) ranks. All ranks know
/// the first key of each group; a key goes to a rank of its group, which knows the first keys in the group, and from
/// there to its owner. Collective: an all-reduce of the first keys of groups, a message to each other rank of the
/// group, and two routes.
template <class K>
[[nodiscard]] Rows<std::int64_t> found_by_groups(const FirstKey<K>& mine, const Rows<K>& wanted, Side side,
                                                 const Communicator& comm, const FindHere<K>& find);

}  // namespace heatpp::detail
