#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/checks.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/numbers/numbers.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/detail/shared/two_hops.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/device/collectives.hpp>
#include <heatpp/comm/device/staging.hpp>

namespace heatpp {

using namespace detail;

namespace {

/// Reduces over all ranks before this one, and itself if `inclusive`. A mean is left as a sum.
std::unique_ptr<Operation> start_sum_scan(const Communicator& comm, const Buffer& data, ReduceOp op, bool inclusive) {
  if (shares_memory(comm)) return shared_scan(comm, data, op, inclusive);
  auto scan = std::make_unique<Pending>(comm, inclusive ? "scan" : "exscan");
  for_each_piece(data.count, max_count, [&](std::int64_t first, int n) {
    check_mpi((inclusive ? MPI_Iscan : MPI_Iexscan)(MPI_IN_PLACE, address(data, first), n, mpi_type(data.dtype),
                                                    mpi_op(op, data.dtype), comm.impl().mpi, &scan->next()),
              inclusive ? "scan" : "exscan");
  });
  return scan;
}

std::unique_ptr<Operation> start_scan(const Communicator& comm, const Buffer& data, ReduceOp op, bool inclusive) {
  auto scan = start_sum_scan(comm, data, op, inclusive);
  const int ranks = comm.rank() + (inclusive ? 1 : 0);
  if (op != ReduceOp::mean || ranks == 0) return scan;
  return then(std::move(scan), [data, ranks] { divide(data.dtype, data.data, data.count, ranks); });
}

void run_scan(const Communicator& comm, const Buffer& data, ReduceOp op, bool inclusive, Communicator::Site site) {
  const char* const call = inclusive ? "scan" : "exscan";
  device::expect_host(call, data.memory);
  check_op(call, op, data.dtype);
  comm.impl().count(data.bytes());
  run_collective(comm, {call, data.count, data.dtype, op}, site, [&] {
    return rounded_once(data, op, comm.size(), [&](Buffer wide) { return start_scan(comm, wide, op, inclusive); });
  });
}

}  // namespace

void Communicator::barrier(Site site) const {
  impl_->count(0);
  run_collective(*this, {"barrier"}, site, [&] { return start_barrier(*this, "barrier"); });
}

void Communicator::allreduce(Buffer data, ReduceOp op, Site site) const {
  check_op("allreduce", op, data.dtype);
  impl_->count(data.bytes());
  if (size() == 1) return;
  run_collective(*this, {"allreduce", data.count, data.dtype, op}, site, [&] {
    if (!by_segment(*this) && !data.memory.on_device()) find_memory_for(topology_of(*this), data.bytes());
    return start_allreduce(*this, data, op, "allreduce");
  });
}

Request Communicator::iallreduce(Buffer data, ReduceOp op, Site site) const {
  check_op("iallreduce", op, data.dtype);
  impl_->count(data.bytes());
  if (size() == 1) return data.memory.on_device() ? start(device::settled(data.memory)) : Request();
  const Call call{"iallreduce", data.count, data.dtype, op};
  const auto make = [=, *this, memory = memory_of(*this)] {
    return start_allreduce(*this, data, op, "iallreduce", memory);
  };
  if (!data.memory.on_device()) return start_collective(*this, call, site, make);
  check_collective(*this, call, site);
  return start(make());
}

void Communicator::exscan(Buffer data, ReduceOp op, Site site) const { run_scan(*this, data, op, false, site); }
void Communicator::scan(Buffer data, ReduceOp op, Site site) const { run_scan(*this, data, op, true, site); }

// These go by the levels of the machine, as those of a topology.
void Communicator::broadcast(Buffer data, int root, Site site) const { topology_of(*this).broadcast(data, root, site); }

Request Communicator::ibroadcast(Buffer data, int root, Site site) const {
  device::expect_host("ibroadcast", data.memory);
  check_root("ibroadcast", *this, root);
  impl_->count(data.bytes());
  if (size() == 1) return {};
  return start_collective(*this, {"ibroadcast", data.count, data.dtype, root}, site,
                          [=, topology = topology_of(*this), memory = memory_of(*this)] {
                            return start_broadcast(topology, data, root, "ibroadcast", memory);
                          });
}

void Communicator::reduce(Buffer data, int root, ReduceOp op, Site site) const {
  device::expect_host("reduce", data.memory);
  topology_of(*this).reduce(data, root, op, site);
}

void Communicator::reduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op, Site site) const {
  topology_of(*this).reduce_scatter(data, counts, op, site);
}

Request Communicator::ireduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op, Site site) const {
  device::expect_host("ireduce_scatter", data.memory);
  return topology_of(*this).ireduce_scatter(data, counts, op, site);
}

void Communicator::allgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site) const {
  topology_of(*this).allgather(mine, all, counts, site);
}

Request Communicator::iallgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site) const {
  device::expect_host("iallgather", all.memory);
  device::expect_host("iallgather", mine.memory);
  return topology_of(*this).iallgather(mine, all, counts, site);
}

std::vector<std::int64_t> Communicator::allgather(std::int64_t value, Site site) const {
  impl_->count(sizeof value);
  auto all = std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(size()));
  (*all)[static_cast<std::size_t>(rank())] = value;
  run_collective(*this, {"allgather", 1, Dtype::int64}, site,
                 [&] { return then(start_gather_numbers(*this, *all), [all] {}); });
  return *all;
}

std::vector<std::int64_t> Communicator::alltoall(std::span<const std::int64_t> values, Site site) const {
  if (std::ssize(values) != size())
    detail::raise<ValueError>("alltoall", "got {} values; expected one for each of {} ranks", values.size(), size());
  impl_->count((size() - 1) * static_cast<std::int64_t>(sizeof(std::int64_t)));
  auto sent = std::make_shared<std::vector<std::int64_t>>(values.begin(), values.end());
  auto received = std::make_shared<std::vector<std::int64_t>>(values.size());
  run_collective(*this, {"alltoall", 1, Dtype::int64}, site, [&] {
    const auto type = MPI_INT64_T;
    if (auto shared = shared_alltoall(*this, *sent, *received)) return shared;
    if (worth_two_hops(*this, std::ssize(*sent) * static_cast<std::int64_t>(sizeof(std::int64_t))))
      return then(alltoall_in_two_hops(*this, *sent, *received), [sent, received] {});
    return then(pending(*this, "alltoall", MPI_Ialltoall, sent->data(), 1, type, received->data(), 1, type),
                [sent, received] {});
  });
  return *received;
}

}  // namespace heatpp
