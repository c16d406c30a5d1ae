#include <ATen/Parallel.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/count_runs.hpp>
#include <heatpp/core/detail/peers/few_ranks.hpp>
#include <heatpp/ml/detail/row_random.hpp>
#include <heatpp/ml/tree/detail/bins.hpp>
#include <heatpp/ml/tree/detail/sampling/feature_keys.hpp>
#include <heatpp/ops/sorting/detail/runs.hpp>

#include <limits>

namespace heatpp::ml::detail {
namespace {

using heatpp::detail::Keys;

constexpr double most_sampled = 200'000;
constexpr std::size_t record = 257;  // bins, whether each holds one number, and numbers or edges

/// Sampled rows as keys, which are ordered as the numbers, thread by thread.
template <class T>
std::vector<typename Keys<T>::K> sampled(const char* op, const Rows& rows, std::uint64_t seed, Totals& missing) {
  std::vector<std::vector<typename Keys<T>::K>> of_thread(threads());
  const auto share = most_sampled / static_cast<double>(std::max<std::int64_t>(1, rows.size()));
  const RowRandom random(seed, 0);
  for_pieces(rows, [&]<class Found>(const Piece<Found>& piece, int thread) {
    if constexpr (std::is_same_v<Found, T>) {
      check_finite(op, rows, piece, Missing::left_out);
      auto own = missing.of(thread);
      auto& keys = of_thread[static_cast<std::size_t>(thread)];
      for (std::int64_t i = 0; i < piece.rows; ++i) {
        const auto* x = piece.row(i);
        for (std::int64_t j = 0; j < piece.features; ++j) own[static_cast<std::size_t>(j)] += x[j] != x[j] ? 1.0 : 0.0;
        if (share >= 1 || random.uniform(rows.first() + piece.first + i) < share)
          std::transform(x, x + piece.features, std::back_inserter(keys), Keys<T>::template of<>);
      }
    }
  });
  auto all = std::move(of_thread[0]);
  for (std::size_t t = 1; t < of_thread.size(); ++t) all.insert(all.end(), of_thread[t].begin(), of_thread[t].end());
  return all;
}

template <class K>
std::vector<K> transposed(const std::vector<K>& rows, std::int64_t features) {
  const auto n = std::ssize(rows) / features;
  std::vector<K> columns(rows.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < features; ++j)
      columns[static_cast<std::size_t>(j * n + i)] = rows[static_cast<std::size_t>(i * features + j)];
  return columns;
}

/// Returns the quantile at part / parts of sorted keys, as numpy's averaged_inverted_cdf.
template <class T, class K>
double quantile(std::span<const K> sorted, std::int64_t part, std::int64_t parts) {
  const auto n = std::ssize(sorted), place = part * n / parts;
  const auto at = [&](std::int64_t i) {
    return static_cast<double>(Keys<T>::element(sorted[static_cast<std::size_t>(i)]));
  };
  if (part * n % parts != 0 || place == 0) return at(place);
  return at(place - 1) / 2 + at(place) / 2;
}

/// Writes a feature's record: bins, whether each holds one number, and these numbers, else the edges.
template <class T, class K>
void describe(std::span<K> keys, std::int64_t max_bins, double* out) {
  heatpp::detail::sort_keys(keys.data(), std::ssize(keys));
  const auto there = static_cast<std::size_t>(std::ranges::lower_bound(keys, Keys<T>::first_nan) - keys.begin());
  const std::span<const K> sorted(keys.data(), there);
  auto* numbers = out + 2;
  std::int64_t different = 0;
  for (std::size_t i = 0; i < there && different <= max_bins; ++i)
    if (i == 0 || sorted[i] != sorted[i - 1])
      if (different++ < max_bins) numbers[different - 1] = static_cast<double>(Keys<T>::element(sorted[i]));
  out[1] = different <= max_bins ? 1 : 0;
  if (different > max_bins) {
    for (std::int64_t b = 1; b < max_bins; ++b) numbers[b - 1] = quantile<T>(sorted, b, max_bins);
    different = std::unique(numbers, numbers + max_bins - 1) - numbers + 1;
  }
  out[0] = static_cast<double>(std::max<std::int64_t>(1, different));
}

/// Gives every rank the records that others have written for their features.
void share(std::vector<double>& all, const FeatureShares& shares, const Communicator& comm) {
  constexpr auto each = static_cast<std::int64_t>(record);
  if (comm.size() > heatpp::detail::few_ranks) {
    // Others have zeros, and the sum of the bits of one rank and zeros is exact.
    comm.allreduce({all.data(), std::ssize(all), int64});
    return;
  }
  std::vector<std::int64_t> lengths;
  for (int r = 0; r < comm.size(); ++r) lengths.push_back(shares.count(r) * each);
  const auto me = comm.rank();
  comm.allgather({all.data() + shares.first(me) * each, shares.count(me) * each, float64}, all, lengths);
}

/// Returns the records of all features, on every rank.
template <class T>
std::vector<double> described(const Rows& rows, const std::vector<typename Keys<T>::K>& sample, std::int64_t max_bins) {
  using K = typename Keys<T>::K;
  const auto& comm = rows.comm();
  const auto f = rows.features();
  const bool cut = rows.distributed() && comm.size() > 1;
  const FeatureShares shares{f, cut ? comm.size() : 1};
  const auto me = cut ? comm.rank() : 0;
  FeatureKeys<K> own{std::ssize(sample) / f, transposed(sample, f)};
  if (cut)
    own = comm.size() > heatpp::detail::few_ranks ? brought_by_parcels(own, shares, comm)
                                                  : brought_by_ranks(own, shares, comm);
  std::vector<double> all(static_cast<std::size_t>(f) * record, 0.0);
  at::parallel_for(0, shares.count(me), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto j = begin; j < end; ++j)
      describe<T>(std::span(own.keys.data() + j * own.rows, static_cast<std::size_t>(own.rows)), max_bins,
                  all.data() + static_cast<std::size_t>(shares.first(me) + j) * record);
  });
  if (cut) share(all, shares, comm);
  return all;
}

Bins from_records(const std::vector<double>& records, const std::vector<double>& missing, std::int64_t features) {
  const auto f = static_cast<std::size_t>(features);
  constexpr auto behind = std::numeric_limits<double>::infinity();
  Bins bins{.features = features, .edges = std::vector<double>(f * edge_stride, behind)};
  bins.values.resize(f * edge_stride);
  bins.offsets.push_back(0);
  for (std::size_t j = 0; j < f; ++j) {
    const auto* told = records.data() + j * record;
    const auto* numbers = told + 2;
    const auto count = static_cast<std::int32_t>(told[0]);
    auto* edges = bins.edges.data() + j * edge_stride;
    for (std::int32_t b = 0; b + 1 < count; ++b)
      edges[b] = told[1] > 0 ? between(numbers[b], numbers[b + 1]) : numbers[b];
    std::copy_n(numbers, count, bins.values.data() + j * edge_stride);
    bins.count.push_back(count);
    bins.apart.push_back(told[1] > 0 ? 1 : 0);
    bins.missing.push_back(missing[j] > 0 ? 1 : 0);
    bins.offsets.push_back(bins.offsets.back() + static_cast<std::uint32_t>(count) + bins.missing.back());
  }
  return bins;
}

/// Writes records of categorical features, like those of features with few numbers.
void describe_categories(const char* op, const Rows& rows, std::span<const std::int64_t> features,
                         std::int64_t max_bins, std::vector<double>& records) {
  const auto found = categories_of(op, rows, features, max_bins);
  for (std::size_t c = 0; c < features.size(); ++c) {
    auto* told = records.data() + static_cast<std::size_t>(features[c]) * record;
    told[0] = std::max(1.0, static_cast<double>(found[c].size()));
    told[1] = 1;
    std::ranges::copy(found[c], told + 2);
  }
}

template <class T>
Bins bins_of(const char* op, const Rows& rows, std::int64_t max_bins, std::uint64_t seed,
             std::span<const std::int64_t> categories) {
  Totals missing(static_cast<std::size_t>(rows.features()));
  std::vector<typename Keys<T>::K> sample;
  const auto failure = heatpp::detail::failure_of([&] { sample = sampled<T>(op, rows, seed, missing); });
  const auto counts = missing.over_ranks(rows, failure);
  auto records = described<T>(rows, sample, max_bins);
  if (!categories.empty()) describe_categories(op, rows, categories, max_bins, records);
  auto bins = from_records(records, counts, rows.features());
  if (static_cast<double>(rows.size()) > most_sampled) std::ranges::fill(bins.apart, std::uint8_t{0});
  if (!categories.empty()) bins.by_set.assign(bins.count.size(), 0);
  for (const auto j : categories) bins.by_set[static_cast<std::size_t>(j)] = 1;
  return bins;
}

/// Throws ValueError if the numbers of rows of a rank, or cells of all features, exceed 32 bits.
void check_numbered(const char* op, const Rows& rows) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  const auto& layout = rows.layout();
  const auto count = layout.split() ? heatpp::detail::most_indices(layout.cut()) : layout.shape()[0];
  if (count > most || rows.features() > most / edge_stride)
    heatpp::detail::raise<ValueError>(
        op, "got {} rows of {} features on a rank; expected at most {} and {}: more ranks have fewer rows each", count,
        rows.features(), most, most / edge_stride);
}

}  // namespace

Bins find_bins(const char* op, const Rows& rows, std::int64_t max_bins, std::uint64_t seed,
               std::span<const std::int64_t> categories) {
  check_numbered(op, rows);
  return working_dtype(rows) == float32 ? bins_of<float>(op, rows, max_bins, seed, categories)
                                        : bins_of<double>(op, rows, max_bins, seed, categories);
}

}  // namespace heatpp::ml::detail
