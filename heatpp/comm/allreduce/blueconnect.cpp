#include <heatpp/comm/allreduce/algorithm.hpp>

#include <algorithm>

namespace heatpp::comm {
namespace {

// MPI libraries send larger messages (Open MPI over TCP: from 64 KiB) only when the receiver has answered, and the
// answer waits behind the chunks that are under way.
constexpr std::int64_t message_bytes = 32 << 10;
// Larger groups do not exchange all with all, but by halves.
constexpr std::size_t largest_group = 16;

/// The size at which what a rank sends to one other between nodes is as short as goes without waiting for the network:
/// the shorter the chunks, the sooner are all levels at work.
std::int64_t chunk_of(const detail::Tree& machine, const Job& job) {
  if (job.chunk > 0) return job.chunk;
  auto bytes = message_bytes;
  for (const auto* node = &machine; !node->is_leaf(); node = &node->children.front())
    if (node->level == 0 || node->children.front().level == 0) bytes *= std::ssize(node->children);
  return std::max<std::int64_t>(bytes / job.itemsize, 1);
}

}  // namespace

detail::Schedule blueconnect(const detail::Tree& tree, const Job& job) {
  const auto machine = detail::factored(tree, largest_group);
  return detail::in_chunks(job.count, chunk_of(machine, job),
                           [&](detail::Range range) { return detail::allreduce_steps(machine, range, job.rank, {}); });
}

detail::Schedule coded_blueconnect(const detail::Tree& tree, const Job& job) {
  const auto machine = detail::without_single_children(tree);
  return detail::in_chunks(job.count, chunk_of(machine, job), [&](detail::Range range) {
    return detail::coded_allreduce_steps(machine, range, job.rank);
  });
}

}  // namespace heatpp::comm
