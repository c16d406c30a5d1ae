#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/sampler.hpp>

#include <ATen/ATen.h>

#include <algorithm>

namespace heatpp::nn {

using heatpp::detail::raise;

namespace {

std::int64_t rows_of(const Layout& layout, int rank, const SamplerOptions& options) {
  if (layout.split() != 0)
    raise<ValueError>("DistributedSampler", "got an array of shape {}, {}; expected split 0", to_string(layout.shape()),
                      to_string(layout.split()));
  if (options.batch_size < 1)
    raise<ValueError>("DistributedSampler", "got batches of {} rows; expected at least 1", options.batch_size);
  return layout.count(rank);
}

std::int64_t count_batches(const Layout& layout, const SamplerOptions& options) {
  std::vector<std::int64_t> rows;
  for (int rank = 0; rank < layout.ranks(); ++rank) rows.push_back(layout.count(rank));
  const auto [fewest, most] = std::ranges::minmax_element(rows);
  const bool drop = options.remainder == Remainder::drop;
  const auto needed = drop ? options.batch_size : 1;
  if (*fewest < needed)
    raise<ValueError>("DistributedSampler", "got {} rows on rank {}; expected at least {} on every rank", *fewest,
                      fewest - rows.begin(), needed);
  return drop ? *fewest / options.batch_size : (*most + options.batch_size - 1) / options.batch_size;
}

// Numbers that differ in any of the three give unrelated sequences (splitmix64).
std::uint64_t mixed(std::uint64_t seed, std::uint64_t epoch, std::uint64_t rank) {
  for (const auto next : {epoch, rank}) {
    seed += 0x9e3779b97f4a7c15 * (next + 1);
    seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
    seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
    seed ^= seed >> 31;
  }
  return seed;
}

}  // namespace

DistributedSampler::DistributedSampler(const Layout& layout, int rank, const SamplerOptions& options)
    : options_(options), rows_(rows_of(layout, rank, options)), rank_(rank), batches_(count_batches(layout, options)) {}

at::Tensor DistributedSampler::order(std::int64_t epoch) const {
  const auto wanted = batches_ * options_.batch_size;
  auto generator = at::detail::createCPUGenerator(
      mixed(options_.seed, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(rank_)));
  const auto once = options_.shuffle ? at::randperm(rows_, generator, at::kLong) : at::arange(rows_, at::kLong);
  return once.repeat({(wanted + rows_ - 1) / rows_}).narrow(0, 0, wanted);
}

}  // namespace heatpp::nn
