#include <heatpp/comm/detail/schedule/balance.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace heatpp::detail {

std::vector<double> loads_of(std::span<const std::size_t> extents, std::span<const Calibration::Cost> costs,
                             std::span<const int> order, std::int64_t bytes) {
  std::vector<double> loads(extents.size());
  auto share = static_cast<double>(bytes);
  for (const auto level : order) {
    const auto l = static_cast<std::size_t>(level);
    const auto members = static_cast<double>(extents[l]);
    loads[l] = 2 * (costs[l].latency + (members - 1) / members * share / costs[l].bandwidth);
    share /= members;
  }
  return loads;
}

BalancedOrders balanced_orders(std::span<const std::size_t> extents, std::span<const Calibration::Cost> costs,
                               std::int64_t chunk_bytes, std::size_t chunks) {
  std::vector<std::vector<int>> all(1, std::vector<int>(extents.size()));
  std::iota(all.front().begin(), all.front().end(), 0);
  for (auto next = all.front(); std::ranges::next_permutation(next).found;) all.push_back(next);
  std::vector<std::vector<double>> loads;
  for (const auto& order : all) loads.push_back(loads_of(extents, costs, order, chunk_bytes));

  BalancedOrders balanced;
  std::vector<double> total(extents.size(), 0);
  std::vector<std::size_t> number(all.size(), all.size());
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const auto busiest_after = [&](const std::vector<double>& one) {
      double busiest = 0;
      for (std::size_t l = 0; l < total.size(); ++l) busiest = std::max(busiest, total[l] + one[l]);
      return busiest;
    };
    const auto best = static_cast<std::size_t>(std::ranges::min_element(loads, {}, busiest_after) - loads.begin());
    for (std::size_t l = 0; l < total.size(); ++l) total[l] += loads[best][l];
    if (number[best] == all.size()) {
      number[best] = balanced.orders.size();
      balanced.orders.push_back(all[best]);
    }
    balanced.of_chunks.push_back(number[best]);
  }
  return balanced;
}

}  // namespace heatpp::detail
