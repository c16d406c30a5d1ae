#include <heatpp/comm/allreduce/algorithm.hpp>

namespace heatpp::comm {

detail::Schedule recursive(const detail::Tree& tree, const Job& job) {
  const auto halves = detail::factored(detail::flat_tree(tree, tree.level()));
  return detail::in_chunks(job.count, job.count, [&](detail::Range range, std::size_t) {
    return detail::allreduce_steps(halves, range, job.rank);
  });
}

}  // namespace heatpp::comm
