#include <heatpp/comm/detail/progress/collective.hpp>

#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/reproducible/allreduce.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/schedule/execution.hpp>
#include <heatpp/comm/detail/shared/by_nodes.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/detail/text.hpp>
#include <heatpp/comm/device/collectives.hpp>
#include <heatpp/comm/device/staging.hpp>

namespace heatpp::detail {
namespace {

std::unique_ptr<Operation> allreduce_by_messages(const Communicator& comm, const Buffer& data, ReduceOp op,
                                                 const char* call) {
  if (data.bytes() > small_bytes) return native_allreduce(comm, data, op, call);
  return comm.impl().nodes ? allreduce_by_nodes(comm, data, op, call) : small_allreduce(comm, data, op, call);
}

}  // namespace

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

std::unique_ptr<Operation> start_allreduce(const Communicator& comm, Buffer data, ReduceOp op, const char* call) {
  if (data.memory.on_device()) {
    if (!wants_exact_sums(comm) || !has_exact_sum(op, data.dtype)) return device::start_flat_allreduce(comm, data, op);
    return device::through_host(data, [=](Buffer host) { return start_allreduce(comm, host, op, call); });
  }
  const auto shared = [&comm](const Buffer& whole, ReduceOp by) { return shared_allreduce(comm, whole, by); };
  const auto start = [&](const Buffer& wide, ReduceOp by) {
    return shares_memory(comm) ? shared(wide, by) : allreduce_by_messages(comm, wide, by, call);
  };
  if (wants_exact_sums(comm) && has_exact_sum(op, data.dtype)) {
    ExactMakers makers{.at_once = {}, .in_parts = start};
    if (shares_memory(comm)) makers.at_once = shared;
    return exact_allreduce(comm, data, op, makers);
  }
  const auto make = [&](const Buffer& wide) { return start(wide, op); };
  return is_float16(data.dtype) ? rounded_once(data, op, comm.size(), make) : make(data);
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
  if (shares_memory(comm)) return shared_broadcast(comm, data, root);
  auto copies = std::make_unique<Pending>(comm, call);
  for_each_piece(data.count, max_count, [&](std::int64_t first, int n) {
    check_mpi(MPI_Ibcast(address(data, first), n, mpi_type(data.dtype), root, comm.impl().mpi, &copies->next()), call);
  });
  return copies;
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
