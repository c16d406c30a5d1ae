#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/checks.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/detail/numbers/numbers.hpp>
#include <heatpp/comm/detail/schedule/parts.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/device/collectives.hpp>
#include <heatpp/comm/device/staging.hpp>

#include <cstring>
#include <numeric>

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

PartsJob flat_job(const Communicator& comm, const char* call) { return {comm, nullptr, comm.impl().schedules, call}; }

/// Gathers parts that already lie in their place on every rank.
std::unique_ptr<Operation> gather_in_place(const Communicator& comm, const Buffer& all,
                                           std::span<const std::int64_t> counts) {
  if (all.count >= max_count) return spread_parts(flat_job(comm, "allgather"), all, parts_by_rank(parts_of(counts)));
  auto sizes = std::make_shared<std::vector<int>>(counts.begin(), counts.end());
  auto first = std::make_shared<std::vector<int>>(counts.size());
  std::exclusive_scan(sizes->begin(), sizes->end(), first->begin(), 0);
  const auto type = mpi_type(all.dtype);
  return then(
      pending(comm, "allgather", MPI_Iallgatherv, MPI_IN_PLACE, 0, type, all.data, sizes->data(), first->data(), type),
      [sizes, first] {});
}

std::unique_ptr<Operation> start_allgather(const Communicator& comm, const ConstBuffer& mine, const Buffer& all,
                                           std::span<const std::int64_t> counts) {
  if (shares_memory(comm)) return shared_allgather(comm, all, counts, "allgather", place_part(comm, mine, all, counts));
  std::vector<std::unique_ptr<Operation>> both;
  both.push_back(unless_wrong_anywhere(comm, "allgather", place_part(comm, mine, all, counts)));
  both.push_back(gather_in_place(comm, all, counts));
  return together(std::move(both));
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
  run_collective(*this, {"allreduce", data.count, data.dtype, op}, site,
                 [&] { return start_allreduce(*this, data, op, "allreduce"); });
}

Request Communicator::iallreduce(Buffer data, ReduceOp op, Site site) const {
  check_op("iallreduce", op, data.dtype);
  impl_->count(data.bytes());
  if (size() == 1) return data.memory.on_device() ? start(device::settled(data.memory)) : Request();
  const Call call{"iallreduce", data.count, data.dtype, op};
  const auto make = [=, *this] { return start_allreduce(*this, data, op, "iallreduce"); };
  if (!data.memory.on_device()) return start_collective(*this, call, site, make);
  check_collective(*this, call, site);
  return start(make());
}

void Communicator::exscan(Buffer data, ReduceOp op, Site site) const { run_scan(*this, data, op, false, site); }
void Communicator::scan(Buffer data, ReduceOp op, Site site) const { run_scan(*this, data, op, true, site); }

void Communicator::broadcast(Buffer data, int root, Site site) const {
  check_root("broadcast", *this, root);
  if (data.memory.on_device()) {
    check_collective(*this, {"broadcast", data.count, data.dtype, root}, site);
    return device::broadcast(*this, data, root);
  }
  impl_->count(data.bytes());
  if (size() == 1) return;
  run_collective(*this, {"broadcast", data.count, data.dtype, root}, site,
                 [&] { return start_broadcast(*this, data, root); });
}

Request Communicator::ibroadcast(Buffer data, int root, Site site) const {
  device::expect_host("ibroadcast", data.memory);
  check_root("ibroadcast", *this, root);
  impl_->count(data.bytes());
  if (size() == 1) return {};
  return start_collective(*this, {"ibroadcast", data.count, data.dtype, root}, site,
                          [=, *this] { return start_broadcast(*this, data, root, "ibroadcast"); });
}

void Communicator::reduce(Buffer data, int root, ReduceOp op, Site site) const {
  device::expect_host("reduce", data.memory);
  check_root("reduce", *this, root);
  check_op("reduce", op, data.dtype);
  impl_->count(data.bytes());
  if (size() == 1) return;
  run_collective(*this, {"reduce", data.count, data.dtype, root, op_name(op)}, site,
                 [&] { return reduce_to_root(flat_job(*this, "reduce"), data, root, op); });
}

void Communicator::reduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op, Site site) const {
  check_counts("reduce_scatter", *this, counts, data.count);
  check_op("reduce_scatter", op, data.dtype);
  const Call call{"reduce_scatter", data.count, data.dtype, op, plan_of(*this, counts)};
  if (data.memory.on_device()) {
    check_collective(*this, call, site);
    return device::reduce_scatter(*this, data, counts, op);
  }
  impl_->count(data.bytes());
  if (size() == 1) return;
  run_collective(*this, call, site, [&] {
    return reduce_parts(flat_job(*this, "reduce_scatter"), data, parts_by_rank(parts_of(counts)), op);
  });
}

Request Communicator::ireduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op, Site site) const {
  device::expect_host("ireduce_scatter", data.memory);
  check_counts("ireduce_scatter", *this, counts, data.count);
  check_op("ireduce_scatter", op, data.dtype);
  impl_->count(data.bytes());
  if (size() == 1) return {};
  return start_collective(*this, {"ireduce_scatter", data.count, data.dtype, op, plan_of(*this, counts)}, site,
                          [=, *this, parts = parts_by_rank(parts_of(counts))] {
                            return reduce_parts(flat_job(*this, "ireduce_scatter"), data, parts, op);
                          });
}

void Communicator::allgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site) const {
  check_counts("allgather", *this, counts, all.count);
  const Call call{"allgather", all.count, all.dtype, {}, plan_of(*this, counts)};
  if (all.memory.on_device() || mine.memory.on_device()) {
    check_collective(*this, call, site);
    return device::allgather(*this, mine, all, counts);
  }
  impl_->count(mine.bytes());
  run_collective(*this, call, site, [&] { return start_allgather(*this, mine, all, counts); });
}

Request Communicator::iallgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site) const {
  device::expect_host("iallgather", all.memory);
  device::expect_host("iallgather", mine.memory);
  check_counts("iallgather", *this, counts, all.count);
  impl_->count(mine.bytes());
  return start_collective(
      *this, {"iallgather", all.count, all.dtype, {}, plan_of(*this, counts)}, site,
      [=, *this, kept = std::vector(counts.begin(), counts.end())] { return start_allgather(*this, mine, all, kept); });
}

std::vector<std::int64_t> Communicator::allgather(std::int64_t value, Site site) const {
  impl_->count(sizeof value);
  auto all = std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(size()));
  (*all)[static_cast<std::size_t>(rank())] = value;
  run_collective(*this, {"allgather", 1, Dtype::int64}, site, [&] {
    return then(shares_memory(*this) ? shared_allgather(*this, value, *all) : start_gather_numbers(*this, *all),
                [all] {});
  });
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
    return then(pending(*this, "alltoall", MPI_Ialltoall, sent->data(), 1, type, received->data(), 1, type),
                [sent, received] {});
  });
  return *received;
}

}  // namespace heatpp
