#include "summary.hpp"

#include <heatpp/heatpp.hpp>
#include <heatpp/ops/reductions/detail/central_sums.hpp>
#include <heatpp/ops/reductions/detail/extremes.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tools {

namespace ht = heatpp;
using Sums = ht::detail::CentralSums;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t fine = 4096;  // fine bins in each bin that is shown, for percentiles

/// What ranks tell each other of some numbers.
struct Seen {
  Sums sums;
  ht::detail::Extremes<double> ends;
};

void merge_seen(const void* in, void* inout, std::int64_t n) {
  const auto* a = static_cast<const Seen*>(in);
  auto* b = static_cast<Seen*>(inout);
  for (std::int64_t i = 0; i < n; ++i) {
    ht::detail::merge_central_sums(a[i].sums, b[i].sums);
    b[i].ends.add(a[i].ends);
  }
}

/// Reads the numbers from memory once, in parts that stay in the cache while they are read again. Collective.
Seen seen_in(const ht::DNDarray& x) {
  const auto block = x.larray().to(at::kDouble).contiguous();
  const auto part = ht::detail::worth_a_thread * at::get_num_threads();
  Seen seen;
  for (std::int64_t first = 0; first < block.numel(); first += part) {
    const ht::detail::Around extents{1, std::min(part, block.numel() - first), 1};
    ht::detail::central_sums(block.const_data_ptr<double>() + first, extents, 4, &seen.sums);
    ht::detail::add_extremes(block.const_data_ptr<double>() + first, extents, &seen.ends);
  }
  if (x.split()) x.comm().allreduce_records(&seen, 1, sizeof(Seen), &merge_seen);
  return seen;
}

/// The elements as real numbers, and the number of NaN and infinities.
struct Numbers {
  ht::DNDarray finite;
  std::int64_t missing = 0, infinite = 0;
};
Numbers numbers_of(const ht::DNDarray& piece) {
  const auto dtype = piece.dtype();
  auto x = ht::is_complex(dtype) ? ht::abs(piece) : dtype == ht::bool_ ? ht::astype(piece, ht::uint8) : piece;
  if (x.dtype() == ht::float16 || x.dtype() == ht::bfloat16) x = ht::astype(x, ht::float32);
  if (x.dtype() < ht::float16) return {x};
  Numbers numbers{x, ht::sum(ht::isnan(x)).item<std::int64_t>(), ht::sum(ht::isinf(x)).item<std::int64_t>()};
  if (numbers.missing + numbers.infinite > 0) numbers.finite = x(ht::isfinite(x));
  return numbers;
}

std::int64_t piece_rows(const ht::io::StoredArray& x, const SummaryOptions& options) {
  const auto rows = x.shape()[0];
  const bool whole = ht::size_of(x.shape()) * static_cast<std::int64_t>(ht::itemsize(x.dtype())) <= options.piece_bytes;
  return std::max<std::int64_t>(1, whole ? rows : std::min(rows, x.rows_of_bytes(options.piece_bytes)));
}

void each_piece(const ht::io::StoredArray& x, const SummaryOptions& options,
                const std::function<void(const Numbers&)>& use) {
  if (x.shape().empty()) return use(numbers_of(x.all()));
  const auto step = piece_rows(x, options);
  for (std::int64_t first = 0; first < x.shape()[0]; first += step) {
    const auto count = std::min(step, x.shape()[0] - first);
    use(numbers_of(x.rows(first, count)));
    if (options.done) options.done(count);
  }
}

void take_moments(Summary& summary, Sums& sums, const Numbers& numbers) {
  summary.missing += numbers.missing;
  summary.infinite += numbers.infinite;
  if (numbers.finite.size() == 0) return;
  const bool first = sums.n == 0;
  const auto seen = seen_in(numbers.finite);
  summary.min = first ? seen.ends.least : std::min(summary.min, seen.ends.least);
  summary.max = first ? seen.ends.most : std::max(summary.max, seen.ends.most);
  ht::detail::merge_central_sums(seen.sums, sums);
}

/// Sets the ends of this many bins. They differ from each other, as in NumPy. float64 has numbers for all edges between
/// them.
void set_ends(Summary& summary, std::int64_t bins) {
  const auto largest = std::max(std::abs(summary.min), std::abs(summary.max));
  const auto least = 4 * std::numeric_limits<double>::epsilon() * largest * static_cast<double>(bins);
  const auto width = summary.max - summary.min;
  const auto more = width == 0 ? std::max(1.0, least) : width < least ? least - width : 0;
  summary.low = summary.min - more / 2;
  summary.high = summary.max + more / 2;
}

void count(const Summary& summary, const Numbers& numbers, std::vector<std::int64_t>& counts) {
  if (numbers.finite.size() == 0) return;
  const auto bins = static_cast<std::int64_t>(counts.size());
  const auto found = ht::histogram(numbers.finite, {.bins = bins, .range = {summary.low, summary.high}}).first;
  const auto more = found.to_vector<std::int64_t>();
  std::ranges::transform(counts, more, counts.begin(), std::plus());
}

/// Returns the value at a rank, as if the elements of a bin were spread evenly over it.
double place_of(const Summary& summary, const std::vector<std::int64_t>& counts, std::int64_t rank) {
  const auto width = (summary.high - summary.low) / static_cast<double>(counts.size());
  std::size_t bin = 0;
  for (; bin + 1 < counts.size() && rank >= counts[bin]; ++bin) rank -= counts[bin];
  const auto part = (static_cast<double>(rank) + 0.5) / static_cast<double>(std::max<std::int64_t>(1, counts[bin]));
  return std::clamp(summary.low + (static_cast<double>(bin) + part) * width, summary.min, summary.max);
}

/// Returns NumPy's percentile for elements that are known to within a bin.
double from_bins(const Summary& summary, const std::vector<std::int64_t>& counts, double percent) {
  const auto last = std::reduce(counts.begin(), counts.end()) - 1;
  const auto wanted = percent / 100 * static_cast<double>(last);
  const auto rank = static_cast<std::int64_t>(wanted);
  const auto part = wanted - static_cast<double>(rank);
  return (1 - part) * place_of(summary, counts, rank) + part * place_of(summary, counts, std::min(rank + 1, last));
}

void finish_moments(Summary& summary, const Sums& sums) {
  const auto var = sums.m2 / sums.n;
  summary.mean = sums.mean + sums.low;
  summary.std = std::sqrt(var);
  summary.skewness = var > 0 ? sums.m3 / sums.n / std::pow(var, 1.5) : nan;
  summary.kurtosis = var > 0 ? sums.m4 / sums.n / (var * var) - 3 : nan;
}

}  // namespace

std::int64_t rows_to_read(const ht::io::StoredArray& x, const SummaryOptions& options) {
  if (x.shape().empty()) return 0;
  return x.shape()[0] * (piece_rows(x, options) < x.shape()[0] ? 2 : 1);
}

Summary summarise(const ht::io::StoredArray& x, const SummaryOptions& options) {
  Summary summary{.size = ht::size_of(x.shape()), .percents = options.percents};
  summary.exact = x.shape().empty() || piece_rows(x, options) >= x.shape()[0];
  Sums sums;
  std::optional<Numbers> only;
  each_piece(x, options, [&](const Numbers& numbers) {
    take_moments(summary, sums, numbers);
    if (summary.exact) only = numbers;
  });
  summary.counts.assign(static_cast<std::size_t>(options.bins), 0);
  summary.percentiles.assign(options.percents.size(), nan);
  if (sums.n == 0) {
    summary.min = summary.max = summary.mean = summary.std = summary.skewness = summary.kurtosis = nan;
    return summary;
  }
  finish_moments(summary, sums);
  set_ends(summary, options.bins * (summary.exact ? 1 : fine));
  if (summary.exact) {
    count(summary, *only, summary.counts);
    if (!options.percents.empty())
      summary.percentiles = ht::astype(ht::percentile(only->finite, options.percents), ht::float64).to_vector<double>();
    return summary;
  }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(options.bins * fine), 0);
  each_piece(x, options, [&](const Numbers& numbers) { count(summary, numbers, counts); });
  for (std::size_t bin = 0; bin < counts.size(); ++bin) summary.counts[bin / fine] += counts[bin];
  for (std::size_t i = 0; i < options.percents.size(); ++i)
    summary.percentiles[i] = from_bins(summary, counts, options.percents[i]);
  return summary;
}

}  // namespace tools
