#include <heatpp/comm/allreduce/algorithm.hpp>

#include <algorithm>

namespace heatpp::comm {
namespace {

// Chunks are small against the data, so that the levels are soon all at work, and large against what a message costs.
constexpr std::int64_t chunks = 16, smallest_chunk_bytes = 256 << 10, largest_chunk_bytes = 4 << 20;
// Messages of a group below this size go in as few steps as can be, above it round a ring.
constexpr std::int64_t ring_from_bytes = 64 << 10;

std::int64_t chunk_of(const Job& job) {
  if (job.chunk_bytes > 0) return std::max<std::int64_t>(job.chunk_bytes / job.itemsize, 1);
  const auto bytes = std::clamp(job.count * job.itemsize / chunks, smallest_chunk_bytes, largest_chunk_bytes);
  return std::max<std::int64_t>(bytes / job.itemsize, 1);
}

}  // namespace

detail::Schedule blueconnect(const detail::Tree& tree, const Job& job) {
  const auto levels = detail::without_single_children(tree);
  const bool small = job.count * job.itemsize / static_cast<std::int64_t>(ranks_of(tree).size()) < ring_from_bytes;
  const auto machine = small ? detail::factored(levels) : levels;
  const auto style = [&](int, std::size_t members, std::int64_t count) {
    const auto message = count * job.itemsize / static_cast<std::int64_t>(members);
    return members > 3 && message >= ring_from_bytes ? detail::Style::ring : detail::Style::direct;
  };
  return detail::in_chunks(job.count, chunk_of(job), [&](detail::Range range) {
    return detail::allreduce_steps(machine, range, job.rank, style);
  });
}

detail::Schedule coded_blueconnect(const detail::Tree& tree, const Job& job) {
  const auto machine = detail::without_single_children(tree);
  return detail::in_chunks(job.count, chunk_of(job), [&](detail::Range range) {
    return detail::coded_allreduce_steps(machine, range, job.rank);
  });
}

}  // namespace heatpp::comm
