#include <heatpp/comm/allreduce/algorithm.hpp>

namespace heatpp::comm {

detail::Schedule tree(const detail::Tree& machine, const Job& job) {
  const auto small = detail::factored(detail::without_single_children(machine));
  const auto ranks = ranks_of(machine);
  return detail::in_chunks(job.count, job.count, [&](detail::Range range) {
    std::vector<detail::Range> parts(ranks.size());
    parts[0] = range;
    auto steps = detail::reduce_scatter_steps(small, parts, job.rank);
    auto back = detail::allgather_steps(small, parts, job.rank);
    steps.insert(steps.end(), std::make_move_iterator(back.begin()), std::make_move_iterator(back.end()));
    return steps;
  });
}

}  // namespace heatpp::comm
