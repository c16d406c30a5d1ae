#include <heatpp/comm/allreduce/algorithm.hpp>

namespace heatpp::comm {

detail::Schedule ring(const detail::Tree& tree, const Job& job) {
  const auto flat = detail::flat_tree(tree, tree.level());
  // There are two chunks, so that one is summed while the other travels.
  return detail::in_chunks(job.count, (job.count + 1) / 2, [&](detail::Range range, std::size_t) {
    return detail::allreduce_steps(flat, range, job.rank, {}, detail::Style::ring);
  });
}

}  // namespace heatpp::comm
