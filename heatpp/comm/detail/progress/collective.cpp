#include <heatpp/comm/detail/progress/collective.hpp>

#include <heatpp/comm/allreduce/planned.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/reproducible/allreduce.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/detail/text.hpp>
#include <heatpp/comm/device/collectives.hpp>
#include <heatpp/comm/device/staging.hpp>

#include <numeric>

namespace heatpp::detail {
std::unique_ptr<Operation> small_allreduce(const Communicator& comm, const Buffer& data, ReduceOp op,
                                           const char* call) {
  auto& impl = comm.impl();
  const ScheduleCache::Key key{data.count};
  auto schedule = impl.schedules.get(key, [&] {
    return comm::doubling(side_by_side(impl.size),
                          {impl.rank, data.count, static_cast<std::int64_t>(itemsize(data.dtype))});
  });
  return std::make_unique<Execution>(comm, std::move(schedule), data, op, Coding{}, call);
}

ScheduleMemory memory_of(const Communicator& comm) {
  return comm.impl().machine ? comm.impl().machine->memory : ScheduleMemory{};
}

std::unique_ptr<Operation> start_allreduce(const Communicator& comm, Buffer data, ReduceOp op, const char* call) {
  return start_allreduce(comm, data, op, call, memory_of(comm));
}

std::unique_ptr<Operation> start_allreduce(const Communicator& comm, Buffer data, ReduceOp op, const char* call,
                                           const ScheduleMemory& memory) {
  const bool exact = wants_exact_sums(comm) && has_exact_sum(op, data.dtype);
  if (data.memory.on_device()) {
    if (!exact) return device::start_flat_allreduce(comm, data, op);
    return device::through_host(data, [=](Buffer host) { return start_allreduce(comm, host, op, call, memory); });
  }
  // The shortest way, without a plan.
  if (by_segment(comm) && comm.impl().settings->allreduce.empty() && !exact && !is_float16(data.dtype))
    return shared_allreduce(comm, data, op);
  const auto topology = topology_of(comm);
  const AllreduceOptions options{.op = op};
  auto plan = comm::plan_of(topology, options, data);
  plan.memory = memory;
  plan.call = call;
  return comm::start_planned(topology, options, data, plan);
}

std::unique_ptr<Operation> rounded_once(Buffer data, ReduceOp op, int ranks, const StartAllreduce& make) {
  const bool rounds = op != ReduceOp::min && op != ReduceOp::max && ranks > 2;
  if (!is_float16(data.dtype) || !rounds) return make(data);
  auto wide = std::make_shared<Scratch>(data.count * static_cast<std::int64_t>(sizeof(float)));
  auto* const values = reinterpret_cast<float*>(wide->data());
  const auto widened = [data, values] { widen(data.dtype, data.data, values, data.count); };
  widened();
  return then(
      make({values, data.count, float32}), [data, values, wide] { narrow(data.dtype, values, data.data, data.count); },
      widened);
}

std::unique_ptr<Operation> start_broadcast(const Communicator& comm, Buffer data, int root, const char* call) {
  return by_segment(comm) ? shared_broadcast(comm, data, root) : native_broadcast(comm, data, root, call);
}

std::unique_ptr<Operation> native_broadcast(const Communicator& comm, Buffer data, int root, const char* call) {
  auto copies = std::make_unique<Pending>(comm, call);
  for_each_piece(data.count, max_count, [&](std::int64_t first, int n) {
    check_mpi(MPI_Ibcast(address(data, first), n, mpi_type(data.dtype), root, comm.impl().mpi, &copies->next()), call);
  });
  return copies;
}

std::unique_ptr<Operation> native_allgather(const Communicator& comm, Buffer all, std::span<const std::int64_t> counts,
                                            const char* call) {
  auto sizes = std::make_shared<std::vector<int>>(counts.begin(), counts.end());
  auto first = std::make_shared<std::vector<int>>(counts.size());
  std::exclusive_scan(sizes->begin(), sizes->end(), first->begin(), 0);
  const auto type = mpi_type(all.dtype);
  return then(pending(comm, call, MPI_Iallgatherv, MPI_IN_PLACE, 0, type, all.data, sizes->data(), first->data(), type),
              [sizes, first] {});
}

std::unique_ptr<Operation> unless_wrong_anywhere(const Communicator& comm, const char* op, std::string wrong) {
  const auto right = std::make_shared<std::int64_t>(wrong.empty());
  return then(start_allreduce(comm, {right.get(), 1, Dtype::int64}, ReduceOp::min, op),
              [op, right, wrong = std::move(wrong)] {
                if (!wrong.empty()) raise<ValueError>(op, "{}", wrong);
                if (!*right) raise<ValueError>(op, "got wrong arguments on another rank; expected right ones on all");
              });
}

std::unique_ptr<Operation> start_barrier(const Communicator& comm, const char* call) {
  return shares_memory(comm) ? shared_barrier(comm) : pending(comm, call, MPI_Ibarrier);
}

void await_all(const Communicator& comm, const char* op) { run(start_barrier(comm, op)); }

std::string text_of_rank_0(const Communicator& comm, std::string text, std::source_location site) {
  const auto length = std::make_shared<std::int64_t>(std::ssize(text));
  run_collective(comm, {"broadcast of a length"}, site, [&] {
    return then(start_broadcast(comm, {length.get(), 1, Dtype::int64}, 0), [length] {});
  });
  const auto all = std::make_shared<std::string>(std::move(text));
  all->resize(static_cast<std::size_t>(*length));
  run_collective(comm, {"broadcast of a text"}, site, [&] {
    return then(start_broadcast(comm, {all->data(), *length, Dtype::int8}, 0), [all] {});
  });
  return *all;
}

}  // namespace heatpp::detail
