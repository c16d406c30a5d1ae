#include <heatpp/comm/allreduce/algorithm.hpp>

namespace heatpp::comm {

detail::Schedule tree(const detail::Tree& machine, const Job& job) {
  const auto small = detail::factored(detail::without_single_children(machine));
  auto schedule = detail::in_chunks(job.count, job.count, [&](detail::Range range, std::size_t) {
    const detail::Parts parts{{range, 0}};
    auto steps = detail::reduce_scatter_steps(small, parts, job.rank, job.memory);
    auto back = detail::allgather_steps(small, parts, job.rank, job.memory);
    steps.insert(steps.end(), std::make_move_iterator(back.begin()), std::make_move_iterator(back.end()));
    return steps;
  });
  schedule.in_memory = job.memory.level >= 0;
  return schedule;
}

}  // namespace heatpp::comm
