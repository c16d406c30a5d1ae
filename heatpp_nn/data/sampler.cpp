#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/data/detail/epoch_order.hpp>
#include <heatpp_nn/data/sampler.hpp>

#include <ATen/ATen.h>

#include <algorithm>

namespace heatpp::nn {
namespace {

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

/// The first of `n` rows that `rank` has when `ranks` share them evenly.
std::int64_t even_offset(std::int64_t n, std::int64_t ranks, std::int64_t rank) {
  return rank * (n / ranks) + std::min(rank, n % ranks);
}

}  // namespace

DistributedSampler::DistributedSampler(const Layout& layout, int rank, const SamplerOptions& options)
    : layout_(checked(layout, options)), rank_(rank), options_(options), batches_(count_batches()) {}

std::int64_t DistributedSampler::count_batches() const {
  const auto rows = options_.batch_size, ranks = std::int64_t{layout_.ranks()};
  const bool drop = options_.remainder == Remainder::drop;
  if (is_global() || options_.remainder == Remainder::join) {
    const auto needed = drop ? rows * ranks : 1;
    if (extent() < needed) raise<ValueError>(op, "got {} rows in all; expected at least {}", extent(), needed);
  }
  if (is_global()) return drop ? extent() / (rows * ranks) : ceil_divide(extent(), rows * ranks);
  std::vector<std::int64_t> counts;
  for (int r = 0; r < layout_.ranks(); ++r) counts.push_back(layout_.count(r));
  const auto [fewest, most] = std::ranges::minmax_element(counts);
  const auto needed = drop ? rows : options_.remainder == Remainder::pad ? 1 : 0;
  if (*fewest < needed)
    raise<ValueError>(op, "got {} rows on rank {}; expected at least {} on every rank", *fewest,
                      fewest - counts.begin(), needed);
  return drop ? *fewest / rows : ceil_divide(*most, rows);
}

std::int64_t DistributedSampler::count(std::int64_t batch, int rank) const {
  const auto rows = options_.batch_size;
  if (options_.remainder != Remainder::join) return rows;
  if (!is_global()) return std::clamp<std::int64_t>(layout_.count(rank) - batch * rows, 0, rows);
  return even_offset(total(batch), layout_.ranks(), rank + 1) - even_offset(total(batch), layout_.ranks(), rank);
}

std::int64_t DistributedSampler::total(std::int64_t batch) const {
  const auto full = options_.batch_size * layout_.ranks();
  if (options_.remainder != Remainder::join) return full;
  if (is_global()) return std::min(full, extent() - batch * full);
  std::int64_t sum = 0;
  for (int rank = 0; rank < layout_.ranks(); ++rank) sum += count(batch, rank);
  return sum;
}

int DistributedSampler::active_ranks(std::int64_t batch) const {
  int active = 0;
  for (int rank = 0; rank < layout_.ranks(); ++rank) active += count(batch, rank) > 0;
  return active;
}

double DistributedSampler::weight(std::int64_t batch) const {
  return static_cast<double>(count(batch) * layout_.ranks()) / static_cast<double>(total(batch));
}

std::int64_t DistributedSampler::first_place(std::int64_t batch) const {
  const auto rows = options_.batch_size;
  if (!is_global()) return layout_.offset(rank_) + batch * rows % layout_.count(rank_);
  return (batch * rows * layout_.ranks() + even_offset(total(batch), layout_.ranks(), rank_)) % extent();
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
