#include <heatpp/ops/sorting/detail/by_key.hpp>

#include <heatpp/comm/buffer.hpp>
#include <heatpp/ops/sorting/detail/collective_messages.hpp>
#include <heatpp/ops/sorting/detail/merge.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

/// Cuts by the keys of all ranks, counts[r] each: then all know what arrives.
template <class K>
void cut_by_all(ByKey<K>& cut, const Rows<K>& keys, const std::vector<std::int64_t>& counts,
                std::span<const std::int64_t> positions) {
  std::vector<std::int64_t> bytes;
  for (const auto count : counts) bytes.push_back(count * std::int64_t{sizeof(K)});
  const auto total = std::reduce(counts.begin(), counts.end());
  const Rows<K> all(total);
  cut.comm.allgather(buffer_of(keys.bytes()), buffer_of(all.bytes()), bytes);
  Rows<K> sorted(all.bytes().clone());
  sort_keys(sorted.data(), total);
  std::vector<K> splitters;
  for (const auto position : positions) splitters.push_back(sorted[position]);

  const auto part_of = [&](std::span<const K> run, std::size_t rank) {  // the part of a sorted run
    const auto first = rank == 0 ? run.begin() : std::ranges::lower_bound(run, splitters[rank - 1]);
    return std::span(first, rank == splitters.size() ? run.end() : std::ranges::lower_bound(run, splitters[rank]));
  };
  const auto me = static_cast<std::size_t>(cut.comm.rank());
  cut.arrived = Rows<K>(total);
  std::int64_t first = 0, n = 0;
  for (std::size_t r = 0; r < counts.size(); first += counts[r++]) {
    const auto mine = part_of(all.part(first, first + counts[r]), me);
    std::ranges::copy(mine, cut.arrived.data() + n);
    n += std::ssize(mine);
    const auto rank = static_cast<int>(r);
    if (!mine.empty()) cut.received.push_back({rank, std::ssize(mine)});
    const auto theirs = part_of(keys.part(0, keys.size()), r);
    if (!theirs.empty()) cut.sent.push_back({rank, std::ssize(theirs)});
  }
  cut.arrived.shrink(n);
}

/// Cuts by a search for the keys near the positions.
template <class K>
void cut_by_search(ByKey<K>& cut, const Rows<K>& keys, const std::vector<std::int64_t>& counts,
                   std::span<const std::int64_t> positions) {
  constexpr std::int64_t even_enough = 64;  // a share is up to this part of it too small or too large
  const auto total = std::reduce(counts.begin(), counts.end());
  const auto before = std::reduce(counts.begin(), counts.begin() + cut.comm.rank());
  CollectiveMessages<K> messages(cut.comm);
  const auto splitters = find_splitters<K>({keys.data(), 1, keys.size()}, {cut.comm.size(), before, total}, positions,
                                           total / cut.comm.size() / even_enough, messages);
  std::vector<std::int64_t> first;
  for (const auto& splitter : splitters) first.push_back(splitter.first);
  first.push_back(keys.size());
  std::adjacent_difference(first.begin(), first.end(), first.begin());
  cut.sent = rows_of_ranks(first);
  cut.received = told(cut.sent, cut.comm);
  cut.arrived = cut.there(keys);
}

template <class K>
Rows<K> merged(const Rows<K>& arrived, std::span<const RowsOfRank> rows) {
  std::vector<std::span<const K>> runs;
  std::int64_t first = 0;
  for (const auto& from : rows) {
    runs.push_back(arrived.part(first, first + from.count));
    first += from.count;
  }
  Rows<K> result(first), spare(first);
  const auto found = merge_runs<K>(runs, result.data(), spare.data(), std::less<>());
  if (found.data() != result.data()) std::ranges::copy(found, result.data());  // a single run stays in its place
  return result;
}

}  // namespace

template <class K>
ByKey<K> by_key(Rows<K> keys, const Communicator& comm, const SameKey<K>& same) {
  const auto all = comm.allgather(keys.size());
  const auto total = std::reduce(all.begin(), all.end());
  if (comm.size() == 1 || total == 0) return {{comm, rows_of_ranks(all), rows_of_ranks(all)}, keys, keys};
  std::vector<std::int64_t> positions;
  const std::int64_t each = total / comm.size(), rest = total % comm.size();  // total * r could exceed 63 bits
  for (int r = 1; r < comm.size(); ++r) positions.push_back(each * r + rest * r / comm.size());
  ByKey<K> result{{comm, {}, {}}, Rows<K>(), Rows<K>()};
  if (gathers_keys<K>(total, comm.size())) cut_by_all(result, keys, all, positions);
  else cut_by_search(result, keys, all, positions);
  keys = Rows<K>();  // the merge needs their memory
  result.distinct = merged(result.arrived, result.received);
  result.distinct.shrink(std::unique(result.distinct.begin(), result.distinct.end(), same) - result.distinct.begin());
  return result;
}

#define HEATPP_INSTANTIATE(K) template ByKey<K> by_key(Rows<K>, const Communicator&, const SameKey<K>&);
HEATPP_FORALL_KEYS(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
