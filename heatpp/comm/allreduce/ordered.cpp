#include <heatpp/comm/allreduce/algorithm.hpp>

#include <algorithm>

namespace heatpp::comm {
namespace {

// Every chunk arrives from all ranks before it is summed: this bounds the memory for it.
constexpr std::int64_t chunk_bytes = 4 << 20;

}  // namespace

detail::Schedule ordered(const detail::Tree& tree, const Job& job) {
  auto ranks = ranks_of(tree);
  std::ranges::sort(ranks);
  const auto flat = detail::flat_tree(ranks, tree.level());
  return detail::in_chunks(job.count, chunk_bytes / job.itemsize, [&](detail::Range range, std::size_t) {
    return detail::allreduce_steps(flat, range, job.rank);
  });
}

}  // namespace heatpp::comm
