#include <heatpp/comm/detail/numbers/place.hpp>

#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>
#include <heatpp/comm/detail/numbers/numbers.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/detail/state.hpp>

namespace heatpp::detail {

PlaceInWhole place_in_whole(const Communicator& comm, std::int64_t count, Communicator::Site site) {
  comm.impl().count(sizeof count);
  const auto numbers = std::make_shared<PlaceNumbers>(place_numbers(count));
  run_collective(comm, {"place_in_whole", 1, Dtype::int64}, site,
                 [&] { return then(start_place(comm, *numbers), [numbers] {}); });
  return {(*numbers)[0], (*numbers)[1]};
}

std::unique_ptr<Operation> start_place(const Communicator& comm, PlaceNumbers& numbers) {
  if (shares_memory(comm)) return shared_place(comm, numbers);
  auto& impl = comm.impl();
  auto schedule = impl.schedules.get({placed_numbers}, [&] { return place_schedule(impl.size, impl.rank); });
  return std::make_unique<Execution>(comm, std::move(schedule), Buffer(numbers), ReduceOp::sum, Coding{},
                                     "place_in_whole");
}

std::unique_ptr<Operation> start_gather_numbers(const Communicator& comm, std::span<std::int64_t> all) {
  auto& impl = comm.impl();
  if (shares_memory(comm)) return shared_allgather(comm, all[static_cast<std::size_t>(impl.rank)], all);
  const auto machine = impl.machine;  // not known yet while it is looked for
  auto schedule = impl.schedules.get({machine ? gathered_by_levels : gathered_numbers}, [&] {
    const auto extents =
        machine ? extents_of_consecutive(machine->tree) : std::vector{static_cast<std::size_t>(impl.size)};
    return gather_schedule(extents, impl.rank);
  });
  return std::make_unique<Execution>(comm, std::move(schedule), Buffer(all), ReduceOp::sum, Coding{}, "allgather");
}

std::vector<std::int64_t> numbers_of_ranks(const Communicator& comm, std::int64_t mine) {
  const auto all = std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(comm.size()));
  (*all)[static_cast<std::size_t>(comm.rank())] = mine;
  run(then(start_gather_numbers(comm, *all), [all] {}));
  return *all;
}

}  // namespace heatpp::detail
