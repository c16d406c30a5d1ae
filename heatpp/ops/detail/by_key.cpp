#include <heatpp/comm/buffer.hpp>
#include <heatpp/core/detail/route.hpp>
#include <heatpp/ops/detail/by_key.hpp>
#include <heatpp/ops/detail/merge.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace heatpp::detail {
namespace {

template <class R>
struct KeyOfRow {
  using K = R;
  static K of(const R& row) { return row; }
  static bool less(const R& a, const R& b) { return a < b; }
};
template <class Key>
struct KeyOfRow<Entry<Key>> {
  using K = Key;
  static K of(const Entry<Key>& row) { return row.key; }
  static bool less(const Entry<Key>& a, const Entry<Key>& b) { return precedes(a, b); }
};

/// How many rows go to each rank, and come from it.
using Counts = std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>;

/// From the keys of all ranks, which have counts[r] each.
template <class K>
Counts counts_by_all(const Rows<K>& keys, const std::vector<std::int64_t>& counts,
                     std::span<const std::int64_t> positions, const Communicator& comm) {
  std::vector<std::int64_t> bytes;
  for (const auto count : counts) bytes.push_back(count * std::int64_t{sizeof(K)});
  const auto total = std::reduce(counts.begin(), counts.end());
  const Rows<K> all(total);
  comm.allgather(buffer_of(keys.bytes()), buffer_of(all.bytes()), bytes);
  Rows<K> sorted(all.bytes().clone());
  sort_keys(sorted.data(), total);
  std::vector<K> splitters;
  for (const auto position : positions) splitters.push_back(sorted[position]);

  // Where a sorted run is cut for a rank.
  const auto cut = [&](std::span<const K> run, std::size_t rank) {
    if (rank == 0) return std::int64_t{0};
    return rank > splitters.size() ? std::ssize(run) : std::ranges::lower_bound(run, splitters[rank - 1]) - run.begin();
  };
  std::vector<std::int64_t> sent, received;
  const auto me = static_cast<std::size_t>(comm.rank());
  std::int64_t first = 0;
  for (std::size_t r = 0; r < counts.size(); first += counts[r++]) {
    const auto run = all.part(first, first + counts[r]), own = keys.part(0, keys.size());
    received.push_back(cut(run, me + 1) - cut(run, me));
    sent.push_back(cut(own, r + 1) - cut(own, r));
  }
  return {sent, received};
}

/// By a search for the keys at the positions.
template <class K>
Counts counts_by_search(const Rows<K>& keys, std::span<const std::int64_t> positions, const Communicator& comm) {
  std::vector<std::int64_t> cuts;
  for (const auto& splitter : find_splitters<K>({keys.data(), 1, keys.size()}, positions, comm))
    cuts.push_back(splitter.first);
  cuts.resize(static_cast<std::size_t>(comm.size()), keys.size());
  std::vector<std::int64_t> sent(cuts.size());
  std::adjacent_difference(cuts.begin(), cuts.end(), sent.begin());
  return {sent, comm.alltoall(sent)};
}

}  // namespace

template <class R>
Routed<R> route_by_key(const Rows<R>& rows, const Communicator& comm) {
  using Key = KeyOfRow<R>;
  using K = typename Key::K;
  if (comm.size() == 1) return {rows, {rows.size()}, {rows.size()}, Rows<R>(rows.bytes().clone())};
  Rows<K> keys(std::is_same_v<K, R> ? 0 : rows.size());
  if constexpr (std::is_same_v<K, R>) keys = rows;
  else std::ranges::transform(rows, keys.begin(), Key::of);

  const auto all = comm.allgather(rows.size());
  const auto total = std::reduce(all.begin(), all.end());
  std::vector<std::int64_t> positions;
  if (total > 0)
    for (int r = 1; r < comm.size(); ++r) positions.push_back(total * r / comm.size());
  const bool few = total * std::int64_t{sizeof(K)} <= splitter_bytes<K>(comm.size() - 1);

  Routed<R> routed;
  std::tie(routed.sent, routed.received) =
      few ? counts_by_all(keys, all, positions, comm) : counts_by_search(keys, positions, comm);
  routed.arrived = Rows<R>(exchange_rows(rows.bytes(), routed.sent, routed.received, comm));
  std::vector<std::span<const R>> runs;
  std::int64_t first = 0;
  for (const auto count : routed.received) {
    runs.push_back(routed.arrived.part(first, first + count));
    first += count;
  }
  routed.merged = Rows<R>(first);
  Rows<R> spare(first);
  merge_runs<R>(runs, routed.merged.data(), spare.data(), Key::less);
  return routed;
}

template <class R>
Rows<std::int64_t> answer(const Routed<R>& routed, const Rows<std::int64_t>& answers, const Communicator& comm) {
  return Rows<std::int64_t>(exchange_rows(answers.bytes(), routed.received, routed.sent, comm));
}

#define HEATPP_INSTANTIATE(K)                                                         \
  template Routed<K> route_by_key(const Rows<K>&, const Communicator&);               \
  template Routed<Entry<K>> route_by_key(const Rows<Entry<K>>&, const Communicator&); \
  template Rows<std::int64_t> answer(const Routed<Entry<K>>&, const Rows<std::int64_t>&, const Communicator&);
HEATPP_INSTANTIATE(std::uint8_t)
HEATPP_INSTANTIATE(std::uint16_t)
HEATPP_INSTANTIATE(std::uint32_t)
HEATPP_INSTANTIATE(std::uint64_t)
HEATPP_INSTANTIATE(Key128)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
