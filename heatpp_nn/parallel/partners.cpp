#include <heatpp_nn/parallel/partners.hpp>

#include <heatpp_nn/data/detail/epoch_order.hpp>

#include <bit>

namespace heatpp::nn {

std::optional<int> partner_of(int node, int nodes, std::int64_t turn) {
  if (nodes < 2) return std::nullopt;
  const auto count = static_cast<unsigned>(nodes);
  if (std::has_single_bit(count)) return node ^ (1 << turn % std::countr_zero(count));
  // Nodes with the sum `mirror` modulo the count are pairs. If both are odd or even, nobody is left out.
  const auto random = detail::mixed(static_cast<std::uint64_t>(turn), 0);
  const auto mirror = static_cast<int>(nodes % 2 == 0 ? 2 * (random % (count / 2)) + 1 : random % count);
  const int partner = (mirror - node + nodes) % nodes;
  return partner == node ? std::nullopt : std::optional(partner);
}

}  // namespace heatpp::nn
