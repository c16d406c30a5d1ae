#include <heatpp/comm/allreduce/algorithm.hpp>

namespace heatpp::comm {

detail::Schedule ring(const detail::Tree& tree, const Job& job) {
  const auto flat = detail::flat_tree(ranks_of(tree), tree.level);
  const auto round = [](int, std::size_t, std::int64_t) { return detail::Style::ring; };
  // Two chunks, so that one is summed while the other travels.
  return detail::in_chunks(job.count, (job.count + 1) / 2,
                           [&](detail::Range range) { return detail::allreduce_steps(flat, range, job.rank, round); });
}

}  // namespace heatpp::comm
