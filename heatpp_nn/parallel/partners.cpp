#include <heatpp_nn/parallel/partners.hpp>

#include <bit>

namespace heatpp::nn {
namespace {

/// Mixes the bits of a number (Steele, Lea, Flood 2014, SplitMix).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

}  // namespace

std::optional<int> partner_of(int node, int nodes, std::int64_t turn) {
  if (nodes < 2) return std::nullopt;
  const auto count = static_cast<unsigned>(nodes);
  if (std::has_single_bit(count)) return node ^ (1 << turn % std::countr_zero(count));
  // Nodes with the sum `mirror` modulo the count are pairs. If both are odd or even, nobody is left out.
  const auto random = mixed(static_cast<std::uint64_t>(turn));
  const auto mirror = static_cast<int>(nodes % 2 == 0 ? 2 * (random % (count / 2)) + 1 : random % count);
  const int partner = (mirror - node + nodes) % nodes;
  return partner == node ? std::nullopt : std::optional(partner);
}

}  // namespace heatpp::nn
