#include <heatpp_nn/data/sampler.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/count_runs.hpp>
#include <heatpp_nn/data/detail/epoch_order.hpp>

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>

namespace heatpp::nn {
namespace {

using heatpp::detail::CountRun;
using heatpp::detail::for_each_count_run;
using heatpp::detail::raise;

constexpr auto op = "DistributedSampler";

Layout checked(const Layout& layout, const SamplerOptions& options) {
  if (layout.split() != 0)
    raise<ValueError>(op, "got an array of shape {}, {}; expected split 0", to_string(layout.shape()),
                      to_string(layout.split()));
  if (options.batch_size < 1) raise<ValueError>(op, "got batches of {} rows; expected at least 1", options.batch_size);
  if (options.block < 1 || options.mix < 1)
    raise<ValueError>(op, "got runs of {} rows, {} of them mixed; expected at least 1", options.block, options.mix);
  return layout;
}

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Returns the first of `n` rows that `rank` has if `ranks` share them evenly.
std::int64_t even_offset(std::int64_t n, std::int64_t ranks, std::int64_t rank) {
  return rank * (n / ranks) + std::min(rank, n % ranks);
}

}  // namespace

DistributedSampler::DistributedSampler(const Layout& layout, int rank, const SamplerOptions& options)
    : layout_(checked(layout, options)), rank_(rank), options_(options) {
  check_rows();
  batches_ = count_batches();
}

void DistributedSampler::check_rows() const {
  const auto rows = options_.batch_size;
  const bool drop = options_.remainder == Remainder::drop;
  if (is_global() || joins()) {
    const auto needed = drop ? rows * layout_.ranks() : 1;
    if (extent() < needed) raise<ValueError>(op, "got {} rows in all; expected at least {}", extent(), needed);
    return;
  }
  for_each_count_run(layout_.cut(), [&](const CountRun& run) {
    if (const auto needed = drop ? rows : 1; run.count < needed)
      raise<ValueError>(op, "got {} rows on rank {}; expected at least {} on every rank", run.count, run.first, needed);
  });
}

std::int64_t DistributedSampler::count_batches() const {
  const bool drop = options_.remainder == Remainder::drop;
  auto places = is_global() ? extent() : layout_.count(0);
  if (!is_global())
    for_each_count_run(layout_.cut(), [&](const CountRun& run) {
      places = drop ? std::min(places, run.count) : std::max(places, run.count);
    });
  const auto left = std::max<std::int64_t>(0, places - done_);
  return first_ + (drop ? left / stride() : ceil_divide(left, stride()));
}

DistributedSampler DistributedSampler::from(const Position& position) const {
  auto rest = *this;
  rest.first_ = rest.done_ = 0;
  const auto batches = rest.count_batches(), most = std::max(rest.rows_before(batches), extent());
  if (position.batch < 0 || (!position.rows && position.batch > batches))
    raise<ValueError>(op, "got batch {} of an epoch; expected 0 to {}", position.batch, batches);
  const auto rows = position.rows.value_or(rest.rows_before(position.batch));
  // If rows are padded, larger batches may have had more.
  if (rows < position.batch || (rows > most && options_.remainder != Remainder::pad))
    raise<ValueError>(op, "got {} rows of an epoch in {} batches; expected a row in each, and {} at most", rows,
                      position.batch, most);
  rest.done_ = rest.place_behind(std::min(rows, most));
  rest.first_ = position.batch;
  rest.batches_ = rest.count_batches();
  return rest;
}

std::int64_t DistributedSampler::rows_before_place(std::int64_t place) const {
  if (!joins()) return is_global() ? place : place * layout_.ranks();
  if (is_global()) return std::min(place, extent());
  std::int64_t sum = 0;
  for_each_count_run(layout_.cut(), [&](const CountRun& run) { sum += run.ranks() * std::min(place, run.count); });
  return sum;
}

std::int64_t DistributedSampler::place_behind(std::int64_t rows) const {
  if (is_global()) return rows;
  if (!joins()) return ceil_divide(rows, layout_.ranks());
  std::int64_t place = 0;  // binary search: one step for each bit of the number of rows
  for (auto step = std::int64_t(std::bit_ceil(std::uint64_t(extent() + 1))); step > 0; step /= 2)
    if (rows_before_place(place + step) < rows) place += step;
  return rows > 0 ? place + 1 : 0;
}

std::int64_t DistributedSampler::rows_before(std::int64_t batch) const { return rows_before_place(place(batch)); }

std::int64_t DistributedSampler::count(std::int64_t batch, int rank) const {
  const auto rows = options_.batch_size;
  if (!joins()) return rows;
  if (!is_global()) return std::clamp<std::int64_t>(layout_.count(rank) - place(batch), 0, rows);
  return even_offset(total(batch), layout_.ranks(), rank + 1) - even_offset(total(batch), layout_.ranks(), rank);
}

std::int64_t DistributedSampler::total(std::int64_t batch) const { return rows_before(batch + 1) - rows_before(batch); }

int DistributedSampler::active_ranks(std::int64_t batch) const {
  if (!joins()) return layout_.ranks();
  if (is_global()) return static_cast<int>(std::min<std::int64_t>(total(batch), layout_.ranks()));
  int active = 0;
  for_each_count_run(layout_.cut(),
                     [&](const CountRun& run) { active += count(batch, run.first) > 0 ? run.ranks() : 0; });
  return active;
}

bool DistributedSampler::any_has(std::int64_t rows, std::int64_t batch) const {
  if (!joins()) return rows == options_.batch_size;
  // If all ranks share the rows evenly, the first one has the most, and the last one the least.
  if (is_global()) return rows == count(batch, 0) || rows == count(batch, layout_.ranks() - 1);
  bool any = false;
  for_each_count_run(layout_.cut(), [&](const CountRun& run) { any = any || count(batch, run.first) == rows; });
  return any;
}

double DistributedSampler::weight(std::int64_t batch) const {
  return static_cast<double>(count(batch) * layout_.ranks()) / static_cast<double>(total(batch));
}

std::int64_t DistributedSampler::first_place(std::int64_t batch) const {
  if (!is_global()) return layout_.offset(rank_) + place(batch) % layout_.count(rank_);
  return (place(batch) + even_offset(total(batch), layout_.ranks(), rank_)) % extent();
}

at::Tensor DistributedSampler::rows(std::int64_t epoch, std::int64_t first, std::int64_t last) const {
  std::vector<std::int64_t> rows;
  detail::EpochOrder order(layout_, rank_, options_, epoch);
  const auto begin = is_global() ? 0 : layout_.offset(rank_), end = is_global() ? extent() : layout_.offset(rank_ + 1);
  for (auto batch = first; batch < last; ++batch) {
    const auto n = count(batch);
    for (auto place = n ? first_place(batch) : end, i = n; i > 0; --i) {
      rows.push_back(order(place));
      if (++place == end) place = begin;
    }
  }
  return at::tensor(rows, at::kLong);
}

}  // namespace heatpp::nn
