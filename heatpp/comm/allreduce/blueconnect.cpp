#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/schedule/balance.hpp>

#include <algorithm>

namespace heatpp::comm {
namespace {

// MPI libraries send larger messages (Open MPI over TCP: from 64 KiB) only when the receiver has answered, and the
// answer waits behind the chunks that are under way.
constexpr std::int64_t message_bytes = 32 << 10;
// Larger groups exchange by halves instead of all with all.
constexpr std::size_t largest_group = 16;

/// Returns the size at which a message between nodes is so short that it does not wait for the network. With shorter
/// chunks all levels begin work sooner.
std::int64_t chunk_of(const detail::Tree& machine, const Job& job) {
  if (job.chunk > 0) return job.chunk;
  auto bytes = message_bytes;
  for (auto node = machine; !node.is_leaf(); node = node.child(0))
    if (node.level() == 0 || node.child(0).level() == 0) bytes *= static_cast<std::int64_t>(node.size());
  return std::max<std::int64_t>(bytes / job.itemsize, 1);
}

/// Returns the orders of levels that even their loads; one order if the costs are not known or parts differ in size.
detail::BalancedOrders orders_for(const detail::Tree& machine, const Job& job, std::int64_t chunk) {
  const auto extents = detail::extents_of(machine);
  if (job.costs.empty() || !extents || extents->size() != job.costs.size())
    return {.orders = std::vector<std::vector<int>>(1), .of_chunks = {}};
  const auto chunks = static_cast<std::size_t>((job.count + chunk - 1) / chunk);
  return detail::balanced_orders(*extents, job.costs, chunk * job.itemsize, chunks);
}

}  // namespace

detail::Schedule blueconnect(const detail::Tree& tree, const Job& job) {
  const auto machine = detail::without_single_children(tree);
  const auto chunk = chunk_of(detail::factored(tree, largest_group), job);
  const auto [orders, of_chunks] = orders_for(machine, job, chunk);
  std::vector<detail::Tree> machines;
  for (const auto& order : orders)
    machines.push_back(detail::factored(order.empty() ? tree : *reordered(machine, order), largest_group));
  auto schedule = detail::in_chunks(
      job.count, chunk,
      [&](detail::Range range, std::size_t kind) {
        return detail::allreduce_steps(machines[kind], range, job.rank, job.memory, job.style);
      },
      of_chunks);
  schedule.in_memory = job.memory.level >= 0;
  return schedule;
}

detail::Schedule coded_blueconnect(const detail::Tree& tree, const Job& job) {
  const auto machine = detail::without_single_children(tree);
  auto schedule = detail::in_chunks(job.count, chunk_of(machine, job), [&](detail::Range range, std::size_t) {
    return detail::coded_allreduce_steps(machine, range, job.rank, job.memory);
  });
  schedule.in_memory = job.memory.level >= 0;
  return schedule;
}

}  // namespace heatpp::comm
