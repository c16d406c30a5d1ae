#include <heatpp_nn/training/detail/remaining/remaining.hpp>

#include <algorithm>

namespace heatpp::nn::detail {

std::vector<double> shares_of(std::span<const Held> held) {
  std::vector<double> weights(static_cast<std::size_t>(held.front().parts));
  for (const auto& each : held) {
    if (each.parts != held.front().parts) return {};
    if (each.part >= 0) weights[static_cast<std::size_t>(each.part)] += static_cast<double>(each.weight);
  }
  if (std::ranges::find(weights, 0.0) != weights.end()) return {};
  std::vector<double> shares;
  for (const auto& each : held)
    shares.push_back(each.part < 0 ? 0.0
                                   : static_cast<double>(each.weight) / weights[static_cast<std::size_t>(each.part)]);
  return shares;
}

int least_far(std::span<const Reached> reached) {
  return static_cast<int>(std::ranges::min_element(reached) - reached.begin());
}

/// A sampler expects a row in each batch that is done.
Position position_among(const Position& position, std::int64_t before, std::int64_t now) {
  if (now == before || !position.rows) return position;
  auto there = position;
  const auto share = static_cast<double>(now) / static_cast<double>(before);
  there.rows = std::min(now, static_cast<std::int64_t>(static_cast<double>(*position.rows) * share));
  there.batch = std::min(position.batch, *there.rows);
  return there;
}

}  // namespace heatpp::nn::detail
