#include <heatpp/ops/sorting/detail/runs.hpp>

#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/route.hpp>
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

/// Returns the number of keys in keys[first, last) below each multiple of 1 << shift above `prefix`.
template <class K>
void count_below(std::span<const K> run, const Splitter<K>& splitter, int shift, std::span<std::int64_t> counts) {
  const auto* first = run.data() + splitter.first;
  const auto* const last = run.data() + splitter.last;
  for (std::size_t digit = 1; digit <= counts.size(); ++digit) {
    const auto threshold = static_cast<K>(splitter.key | static_cast<K>(static_cast<K>(digit) << shift));
    first = std::lower_bound(first, last, threshold);
    counts[digit - 1] = first - (run.data() + splitter.first);
  }
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

template <class K>
std::vector<Splitter<K>> find_splitters(const Runs<K>& runs, std::span<const std::int64_t> positions,
                                        const Communicator& comm) {
  std::vector<Splitter<K>> splitters(static_cast<std::size_t>(runs.columns) * positions.size());
  std::vector<std::int64_t> below(splitters.size());  // on this rank
  for (auto& splitter : splitters) splitter.last = runs.rows;
  const int bits = digit_bits(std::ssize(splitters));
  const auto digits = (std::size_t{1} << bits) - 1;
  std::vector<std::int64_t> mine(splitters.size() * digits), all;
  for (int shift = 8 * sizeof(K) - bits; shift >= 0; shift -= bits) {
    for (std::size_t s = 0; s < splitters.size(); ++s)
      count_below(runs.column(static_cast<std::int64_t>(s / positions.size())), splitters[s], shift,
                  std::span(mine).subspan(s * digits, digits));
    all = mine;
    comm.allreduce(all);
    for (std::size_t s = 0; s < splitters.size(); ++s) {
      auto& splitter = splitters[s];
      const auto* counts = all.data() + s * digits;
      const auto* local = mine.data() + s * digits;
      const auto wanted = positions[s % positions.size()] - splitter.below;
      const auto digit = static_cast<std::size_t>(std::upper_bound(counts, counts + digits, wanted) - counts);
      if (digit < digits) splitter.last = splitter.first + local[digit];
      if (digit == 0) continue;
      splitter.first += local[digit - 1];
      splitter.below += counts[digit - 1];
      splitter.key = static_cast<K>(splitter.key | static_cast<K>(static_cast<K>(digit) << shift));
    }
  }
  return splitters;
}

namespace {

/// Returns where every rank's part of each run of this rank begins: of column c and rank r at [c * (ranks + 1) + r].
template <class K>
std::vector<std::int64_t> cuts_of(const Runs<K>& runs, std::int64_t total, std::span<const std::int64_t> targets,
                                  const Communicator& comm) {
  const auto inner = targets.subspan(1, targets.size() - 1);
  std::vector<std::int64_t> positions;
  for (const auto target : inner)
    if (target < total) positions.push_back(target);
  const auto splitters = find_splitters(runs, positions, comm);
  std::vector<std::int64_t> equal;  // keys on earlier ranks that equal a splitter
  for (const auto& splitter : splitters) equal.push_back(splitter.last - splitter.first);
  comm.exscan(equal);
  std::vector<std::int64_t> cuts;
  for (std::int64_t c = 0; c < runs.columns; ++c) {
    cuts.push_back(0);
    for (std::size_t p = 0; p < inner.size(); ++p) {
      if (p >= positions.size()) {
        cuts.push_back(runs.rows);
        continue;
      }
      const auto s = static_cast<std::size_t>(c) * positions.size() + p;
      const auto before = comm.rank() > 0 ? equal[s] : 0;
      cuts.push_back(std::clamp(splitters[s].first + positions[p] - splitters[s].below - before, splitters[s].first,
                                splitters[s].last));
    }
  }
  return cuts;
}

/// Returns the number of keys of each column that every rank has for this one: rank r, column c at [r * columns + c].
std::vector<std::int64_t> incoming_counts(const std::vector<std::int64_t>& outgoing, std::int64_t columns,
                                          const Communicator& comm) {
  if (columns == 1) return comm.alltoall(outgoing);
  auto rows = Rows<std::int64_t>(std::ssize(outgoing));
  std::ranges::copy(outgoing, rows.begin());
  const std::vector<std::int64_t> each(static_cast<std::size_t>(comm.size()), columns);
  const Rows<std::int64_t> arrived(exchange_rows(rows.bytes(), each, each, comm));
  return {arrived.begin(), arrived.end()};
}

std::vector<std::int64_t> sums_of_parts(const std::vector<std::int64_t>& counts, int ranks) {
  std::vector<std::int64_t> sums;
  const auto each = std::ssize(counts) / ranks;
  for (int r = 0; r < ranks; ++r)
    sums.push_back(std::reduce(counts.begin() + r * each, counts.begin() + (r + 1) * each));
  return sums;
}

/// Merges sorted columns of all ranks so that rank r gets positions targets[r] .. targets[r + 1] of each. `total` keys
/// a column are there. Equal keys stay in rank order.
template <class K>
Rows<K> merge_across(const Rows<K>& keys, std::int64_t columns, std::int64_t total,
                     std::span<const std::int64_t> targets, const Communicator& comm) {
  const Runs<K> runs{keys.data(), columns, keys.size() / std::max<std::int64_t>(1, columns)};
  const auto stops = std::ssize(targets);
  const auto ranks = comm.size();
  const auto cuts = cuts_of(runs, total, targets, comm);
  const auto cut = [&](std::int64_t c, int r) { return cuts[static_cast<std::size_t>(c * stops + r)]; };
  std::vector<std::int64_t> outgoing;
  for (int r = 0; r < ranks; ++r)
    for (std::int64_t c = 0; c < columns; ++c) outgoing.push_back(cut(c, r + 1) - cut(c, r));
  const auto incoming = incoming_counts(outgoing, columns, comm);

  const auto send = sums_of_parts(outgoing, ranks), receive = sums_of_parts(incoming, ranks);
  // The parts of a single column are contiguous already.
  Rows<K> parts(columns == 1 ? 0 : std::reduce(send.begin(), send.end()));
  auto* to = parts.data();
  for (int r = 0; r < ranks && columns > 1; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto column = runs.column(c);
      to = std::copy(column.data() + cut(c, r), column.data() + cut(c, r + 1), to);
    }
  const Rows<K> arrived(exchange_rows(columns == 1 ? keys.bytes() : parts.bytes(), send, receive, comm));

  std::vector<std::int64_t> next(static_cast<std::size_t>(ranks));  // where each rank's part continues
  std::exclusive_scan(receive.begin(), receive.end(), next.begin(), std::int64_t{0});
  Rows<K> merged(arrived.size()), spare(arrived.size());
  std::int64_t first = 0;
  for (std::int64_t c = 0; c < columns; ++c) {
    std::vector<std::span<const K>> pieces;
    for (std::size_t r = 0; r < next.size(); ++r) {
      const auto count = incoming[r * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)];
      if (count > 0) pieces.push_back(arrived.part(next[r], next[r] + count));
      next[r] += count;
    }
    const auto result = merge_runs<K>(pieces, merged.data() + first, spare.data() + first, std::less<>());
    if (result.data() != merged.data() + first) std::ranges::copy(result, merged.data() + first);
    first += std::ssize(result);
  }
  return merged;
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
  return splitter_bytes<K>(columns * (ranks - 1)) > most * n * std::int64_t{sizeof(K)};
}

template <class K>
Rows<K> sort_whole_columns(const Rows<K>& keys, std::int64_t columns, std::span<const std::int64_t> offsets,
                           std::span<const std::int64_t> targets, const Communicator& comm) {
  constexpr std::int64_t width = sizeof(K);
  const Layout by_rows({columns, offsets.back(), width}, 1, {offsets.begin(), offsets.end()});
  const Layout by_columns(by_rows.shape(), 0, comm.size());
  const auto part = wrap(keys.bytes().view(by_rows.local_shape(comm.rank())), by_rows, comm);
  Rows<K> whole(relayout(part, by_columns).reshape({-1, width}).clone());
  const auto here = by_columns.count(comm.rank());
  sort_columns(whole, here);
  const auto wanted = targets.back();
  const auto sorted = whole.bytes().view({here, offsets.back(), width}).narrow(1, 0, wanted).contiguous();
  const Layout result({columns, wanted, width}, 1, {targets.begin(), targets.end()});
  const auto back = wrap(sorted, by_columns.with({columns, wanted, width}, 0), comm);
  return Rows<K>(relayout(back, result).reshape({-1, width}));
}

}  // namespace

template <class K>
Rows<K> sort_across(Rows<K> keys, std::int64_t columns, std::span<const std::int64_t> offsets,
                    std::span<const std::int64_t> targets, const Communicator& comm) {
  if (are_short<K>(columns, offsets.back(), comm.size()))
    return sort_whole_columns(keys, columns, offsets, targets, comm);
  sort_columns(keys, columns);
  return merge_across(keys, columns, offsets.back(), targets, comm);
}

#define HEATPP_INSTANTIATE(K)                                                                                       \
  template void sort_keys(K*, std::int64_t);                                                                        \
  template std::vector<Splitter<K>> find_splitters(const Runs<K>&, std::span<const std::int64_t>,                   \
                                                   const Communicator&);                                            \
  template void sort_columns(Rows<K>&, std::int64_t);                                                               \
  template Rows<K> sort_across(Rows<K>, std::int64_t, std::span<const std::int64_t>, std::span<const std::int64_t>, \
                               const Communicator&);
HEATPP_FORALL_KEYS(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
