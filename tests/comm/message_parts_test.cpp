#include "../catch.hpp"

#include <heatpp/comm/detail/message_parts.hpp>
#include <heatpp/comm/topology.hpp>
#include <heatpp/interop/mpi.hpp>

#include <numeric>

namespace ht = heatpp;
using ht::detail::Part;

namespace {

std::vector<std::size_t> sizes_of_messages(std::vector<Part> parts, std::int64_t limit) {
  ht::detail::by_peer(parts, 2, 4);
  std::vector<std::size_t> sizes;
  for (std::span<const Part> rest(parts); !rest.empty(); rest = rest.subspan(sizes.back()))
    sizes.push_back(ht::detail::first_message(rest, limit).size());
  return sizes;
}

}  // namespace

TEST_CASE("parts are joined by peer, from the next rank on, in their order", "[comm][message_parts]") {
  std::vector<std::byte> data(8);
  std::vector<Part> parts{{0, &data[0], 1}, {3, &data[1], 1}, {1, &data[2], 1}, {0, &data[3], 1}, {3, &data[4], 1}};
  ht::detail::by_peer(parts, 2, 4);
  std::vector<std::pair<int, std::ptrdiff_t>> order;
  for (const auto& part : parts) order.emplace_back(part.peer, part.at - data.data());
  CHECK(order == std::vector<std::pair<int, std::ptrdiff_t>>{{3, 1}, {3, 4}, {0, 0}, {0, 3}, {1, 2}});
}

TEST_CASE("short parts for a rank are one message, long ones are one each", "[comm][message_parts]") {
  using Sizes = std::vector<std::size_t>;
  CHECK(sizes_of_messages({{1, nullptr, 10}, {1, nullptr, 0}, {1, nullptr, 65536}}, 1 << 20) == Sizes{3});
  CHECK(sizes_of_messages({{1, nullptr, 10}, {1, nullptr, 65537}, {1, nullptr, 1}, {1, nullptr, 1}}, 1 << 20) ==
        Sizes{1, 1, 2});
  CHECK(sizes_of_messages({{1, nullptr, 60}, {0, nullptr, 5}, {1, nullptr, 40}, {1, nullptr, 1}}, 100) ==
        Sizes{1, 2, 1});
  CHECK(sizes_of_messages({}, 100).empty());
}

TEST_CASE("a rank gets one message from each peer for the racks of a machine", "[comm][message_parts]") {
  const auto world = ht::from_mpi(MPI_COMM_WORLD);
  if (world.size() != 8) return;
  const ht::Topology topology(world, {.shape = {2, 2, 2}});
  const std::vector<std::int64_t> counts(8, 100);
  std::vector<float> data(800);
  std::iota(data.begin(), data.end(), 0.f);
  topology.reduce_scatter(data, counts);
  const auto first = static_cast<std::size_t>(world.rank()) * 100;
  for (std::size_t i = first; i < first + 100; ++i) CHECK(data[i] == 8.f * static_cast<float>(i));
  // The parts of two ranks, which are not adjacent, go to the other node of the rack.
  CHECK(topology.traffic()[1].messages == 1);
  CHECK(topology.traffic()[1].bytes == 2 * 100 * 4);
  CHECK(topology.traffic()[2].messages == 1);
}
