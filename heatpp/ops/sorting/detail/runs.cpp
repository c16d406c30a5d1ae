#include <heatpp/ops/sorting/detail/runs.hpp>

#include <heatpp/core/detail/cuts/count_runs.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/peers/row_lists.hpp>
#include <heatpp/ops/sorting/detail/collective_messages.hpp>
#include <heatpp/ops/sorting/detail/merge.hpp>

#include <hwy/contrib/sort/vqsort.h>

#include <ATen/Parallel.h>
#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

constexpr std::int64_t worth_vectors = 64;  // for fewer keys the vector sort's start costs more

void count_sort(std::uint8_t* keys, std::int64_t n) {
  std::array<std::int64_t, 256> counts{};
  for (std::int64_t i = 0; i < n; ++i) ++counts[keys[i]];
  for (std::size_t key = 0; key < counts.size(); ++key)
    keys = std::fill_n(keys, counts[key], static_cast<std::uint8_t>(key));
}

}  // namespace

template <class K>
void sort_keys(K* keys, std::int64_t n) {
  if (n < worth_vectors) return std::sort(keys, keys + n);
  static const hwy::Sorter sorter;
  const auto size = static_cast<std::size_t>(n);
  if constexpr (sizeof(K) == 1) count_sort(keys, n);
  else if constexpr (sizeof(K) == 16) sorter(reinterpret_cast<hwy::uint128_t*>(keys), size, hwy::SortAscending());
  else sorter(keys, size, hwy::SortAscending());
}

namespace {

/// Returns where every rank's part of each run of this rank begins: of column c and rank r at [c * (ranks + 1) + r].
template <class K>
std::vector<std::int64_t> parts_of(const Runs<K>& runs, const Cut& from, const Cut& to, const Communicator& comm) {
  const auto total = from.extent();
  std::vector<std::int64_t> positions;  // the ends of parts behind which there are keys
  for (int rank = 0; rank < to.ranks(); ++rank)
    if (to.last(rank) < total) positions.push_back(to.last(rank));
  CollectiveMessages<K> messages(comm);
  const auto splitters = find_splitters<K>(runs, {comm.size(), from.first(comm.rank()), total}, positions, 0, messages);
  const auto cuts = cuts_of<K>(splitters, positions, messages);
  const auto stops = static_cast<std::size_t>(to.ranks()) + 1;
  std::vector<std::int64_t> parts(static_cast<std::size_t>(runs.columns) * stops, runs.rows);
  for (std::size_t c = 0; c < static_cast<std::size_t>(runs.columns); ++c) {
    parts[c * stops] = 0;
    std::copy_n(cuts.begin() + static_cast<std::ptrdiff_t>(c * positions.size()), positions.size(),
                parts.begin() + static_cast<std::ptrdiff_t>(c * stops + 1));
  }
  return parts;
}

/// Returns the number of keys of each column that every rank has for this one: rank r, column c at [r * columns + c].
std::vector<std::int64_t> incoming_counts(const std::vector<std::int64_t>& outgoing, std::int64_t columns,
                                          const Communicator& comm) {
  if (columns == 1) return comm.alltoall(outgoing);
  auto rows = Rows<std::int64_t>(std::ssize(outgoing));
  std::ranges::copy(outgoing, rows.begin());
  const std::vector<std::int64_t> each(static_cast<std::size_t>(comm.size()), columns);
  const Rows<std::int64_t> arrived(exchange_rows_among_all(rows.bytes(), each, each, columns * comm.size(), comm));
  return {arrived.begin(), arrived.end()};
}

std::vector<std::int64_t> sums_of_parts(const std::vector<std::int64_t>& counts, int ranks) {
  std::vector<std::int64_t> sums;
  const auto each = std::ssize(counts) / ranks;
  for (int r = 0; r < ranks; ++r)
    sums.push_back(std::reduce(counts.begin() + r * each, counts.begin() + (r + 1) * each));
  return sums;
}

/// Merges the runs of each column. The runs of all columns are those of a rank, one after another, for each rank.
template <class K>
Rows<K> merged_columns(Rows<K> arrived, std::int64_t columns, std::span<const std::int64_t> counts) {
  const auto each = static_cast<std::size_t>(columns);
  std::vector<std::int64_t> next(counts.size() + 1);  // where each run begins
  std::partial_sum(counts.begin(), counts.end(), next.begin() + 1);
  std::vector<std::vector<std::span<const K>>> runs(each);
  std::vector<std::int64_t> sizes(each);
  for (std::size_t run = 0; run < counts.size(); ++run) {
    if (counts[run] == 0) continue;
    runs[run % each].push_back(arrived.part(next[run], next[run + 1]));
    sizes[run % each] += counts[run];
  }
  Rows<K> merged(arrived.size());
  if (columns == 1) return merge_between<K>(runs.front(), arrived, merged);
  Rows<K> spare(std::ranges::max(sizes));
  std::int64_t first = 0;
  for (std::size_t c = 0; c < each; ++c) {
    const auto result = merge_runs<K>(runs[c], merged.data() + first, spare.data(), std::less<>());
    if (result.data() != merged.data() + first) std::ranges::copy(result, merged.data() + first);
    first += sizes[c];
  }
  return merged;
}

/// Merges sorted columns of all ranks so that each rank gets the positions of its part of `to`. Equal keys stay in rank
/// order.
template <class K>
Rows<K> merge_across(Rows<K> keys, std::int64_t columns, const Cut& from, const Cut& to, const Communicator& comm) {
  const Runs<K> runs{keys.data(), columns, keys.size() / std::max<std::int64_t>(1, columns)};
  const auto ranks = comm.size();
  const auto cuts = parts_of(runs, from, to, comm);
  const auto cut = [&](std::int64_t c, int r) { return cuts[static_cast<std::size_t>(c * (ranks + 1) + r)]; };
  std::vector<std::int64_t> outgoing;
  for (int r = 0; r < ranks; ++r)
    for (std::int64_t c = 0; c < columns; ++c) outgoing.push_back(cut(c, r + 1) - cut(c, r));
  const auto incoming = incoming_counts(outgoing, columns, comm);
  const auto send = sums_of_parts(outgoing, ranks), receive = sums_of_parts(incoming, ranks);
  if (columns > 1) {  // the parts of a single column are contiguous already
    Rows<K> parts(std::reduce(send.begin(), send.end()));
    auto* next = parts.data();
    for (int r = 0; r < ranks; ++r)
      for (std::int64_t c = 0; c < columns; ++c) {
        const auto column = runs.column(c);
        next = std::copy(column.data() + cut(c, r), column.data() + cut(c, r + 1), next);
      }
    keys = std::move(parts);
  }
  const auto most = columns * std::max(most_indices(from), most_indices(to));
  Rows<K> arrived(exchange_rows_among_all(keys.bytes(), send, receive, most, comm));
  keys = Rows<K>();  // the merge needs their memory
  return merged_columns(std::move(arrived), columns, incoming);
}

}  // namespace

template <class K>
void sort_columns(Rows<K>& keys, std::int64_t columns) {
  if (columns == 0) return;
  const auto rows = keys.size() / columns;
  at::parallel_for(0, columns, std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, rows)),
                   [&](std::int64_t first, std::int64_t last) {
                     for (auto c = first; c < last; ++c) sort_keys(keys.data() + c * rows, rows);
                   });
}

namespace {

/// Whether finding splitters for all columns would send more than the busiest rank gets if every column is moved to one
/// rank.
template <class K>
bool are_short(std::int64_t columns, std::int64_t n, std::int64_t ranks) {
  const auto most = (columns + ranks - 1) / ranks;
  return search_bytes<K>(columns * (ranks - 1)) > most * n * std::int64_t{sizeof(K)};
}

template <class K>
Rows<K> sort_whole_columns(const Rows<K>& keys, std::int64_t columns, const Cut& from, const Cut& to,
                           const Communicator& comm) {
  constexpr std::int64_t width = sizeof(K);
  const auto rows = from.extent(), wanted = to.extent();
  const Layout by_rows({columns, rows, width}, 1, from);
  const Layout by_columns(by_rows.shape(), 0, comm.size());
  const auto part = wrap(keys.bytes().view(by_rows.local_shape(comm.rank())), by_rows, comm);
  Rows<K> whole(relayout(part, by_columns).reshape({-1, width}).clone());
  const auto here = by_columns.count(comm.rank());
  sort_columns(whole, here);
  const auto sorted = whole.bytes().view({here, rows, width}).narrow(1, 0, wanted).contiguous();
  const Layout result({columns, wanted, width}, 1, to);
  const auto back = wrap(sorted, by_columns.with({columns, wanted, width}, 0), comm);
  return Rows<K>(relayout(back, result).reshape({-1, width}));
}

}  // namespace

template <class K>
Rows<K> sort_across(Rows<K> keys, std::int64_t columns, const Cut& from, const Cut& to, const Communicator& comm) {
  if (are_short<K>(columns, from.extent(), comm.size())) return sort_whole_columns(keys, columns, from, to, comm);
  sort_columns(keys, columns);
  return merge_across(std::move(keys), columns, from, to, comm);
}

#define HEATPP_INSTANTIATE(K)                         \
  template void sort_keys(K*, std::int64_t);          \
  template void sort_columns(Rows<K>&, std::int64_t); \
  template Rows<K> sort_across(Rows<K>, std::int64_t, const Cut&, const Cut&, const Communicator&);
HEATPP_FORALL_KEYS(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
