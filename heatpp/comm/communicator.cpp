#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/progress/patience.hpp>
#include <heatpp/comm/detail/progress/pending.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/device/collectives.hpp>
#include <heatpp/comm/device/staging.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {

using namespace detail;

namespace {

std::byte* at(const Buffer& data, std::int64_t first) {
  return static_cast<std::byte*>(data.data) + first * static_cast<std::int64_t>(itemsize(data.dtype));
}

int receive_now(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm) {
  return MPI_Recv(data, n, type, from, tag, comm, MPI_STATUS_IGNORE);
}

std::unique_ptr<Operation> start_allreduce(const Communicator& comm, const Buffer& data, ReduceOp op) {
  if (data.memory.on_device()) return device::start_allreduce(comm, data, op);
  return rounded_once(data, op, comm.size(), [&](Buffer wide) { return native_allreduce(comm, wide, op); });
}

}  // namespace

int Communicator::rank() const noexcept { return impl_->rank; }
int Communicator::size() const noexcept { return impl_->size; }
std::uint64_t Communicator::group() const noexcept { return impl_->group; }
CommCounters Communicator::counters() const noexcept { return {impl_->calls, impl_->bytes}; }

void Communicator::barrier(Site site) const {
  check_collective(*this, {"barrier"}, site);
  impl_->count(0);
  call_mpi("barrier", MPI_Barrier, MPI_Ibarrier, impl_->mpi);
}

void Communicator::allreduce(Buffer data, ReduceOp op, Site site) const {
  check_op("allreduce", op, data.dtype);
  check_collective(*this, {"allreduce", data.count, data.dtype, static_cast<int>(op)}, site);
  impl_->count(data.bytes());
  if (size() == 1) return;
  if (data.memory.on_device() || is_float16(data.dtype)) return run(*start_allreduce(*this, data, op));
  const auto mpi = mpi_op(op, data.dtype);
  for_each_piece(data.count, max_count, [&](std::int64_t first, int n) {
    call_mpi("allreduce", MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, at(data, first), n, mpi_type(data.dtype), mpi,
             impl_->mpi);
  });
  if (op == ReduceOp::mean) divide(data.dtype, data.data, data.count, size());
}

Request Communicator::iallreduce(Buffer data, ReduceOp op, Site site) const {
  check_op("iallreduce", op, data.dtype);
  impl_->count(data.bytes());
  if (size() == 1) return data.memory.on_device() ? start(device::settled(data.memory)) : Request();
  const Call call{"iallreduce", data.count, data.dtype, static_cast<int>(op)};
  if (debugging() && !data.memory.on_device())
    return start(checked(*this, call, site, [=, *this] { return start_allreduce(*this, data, op); }));
  check_collective(*this, call, site);
  return start(start_allreduce(*this, data, op));
}

void Communicator::exscan(Buffer data, ReduceOp op, Site site) const {
  device::expect_host("exscan", data.memory);
  check_collective(*this, {"exscan", data.count, data.dtype, static_cast<int>(op)}, site);
  const auto mpi = mpi_op(op, data.dtype);
  const auto type = mpi_type(data.dtype);
  impl_->count(data.bytes());
  for_each_piece(data.count, max_count, [&](std::int64_t first, int n) {
    auto* const x = at(data, first);
    call_mpi("exscan", MPI_Exscan, MPI_Iexscan, MPI_IN_PLACE, x, n, type, mpi, impl_->mpi);
  });
}

void Communicator::broadcast(Buffer data, int root, Site site) const {
  check_collective(*this, {"broadcast", data.count, data.dtype, root}, site);
  if (data.memory.on_device()) return device::broadcast(*this, data, root);
  impl_->count(data.bytes());
  if (size() == 1) return;
  const auto type = mpi_type(data.dtype);
  for_each_piece(data.count, max_count, [&](std::int64_t first, int n) {
    auto* const x = at(data, first);
    call_mpi("broadcast", MPI_Bcast, MPI_Ibcast, x, n, type, root, impl_->mpi);
  });
}

void Communicator::reduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op, Site site) const {
  check_collective(*this, {"reduce_scatter", data.count, data.dtype, static_cast<int>(op)}, site);
  if (data.memory.on_device()) return device::reduce_scatter(*this, data, counts, op);
  const auto mpi = mpi_op(op, data.dtype);
  const auto type = mpi_type(data.dtype);
  if (data.count >= max_count || op == ReduceOp::mean) return allreduce(data, op, site);
  impl_->count(data.bytes());
  const auto me = static_cast<std::size_t>(rank());
  std::vector<std::byte> mine(static_cast<std::size_t>(counts[me]) * itemsize(data.dtype));
  const std::vector<int> sizes(counts.begin(), counts.end());
  call_mpi("reduce_scatter", MPI_Reduce_scatter, MPI_Ireduce_scatter, data.data, mine.data(), sizes.data(), type, mpi,
           impl_->mpi);
  std::ranges::copy(mine, at(data, std::reduce(counts.begin(), counts.begin() + rank())));
}

void Communicator::allgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts, Site site) const {
  check_collective(*this, {"allgather", all.count, all.dtype}, site);
  if (all.memory.on_device() || mine.memory.on_device()) return device::allgather(*this, mine, all, counts);
  impl_->count(mine.bytes());
  if (all.count < max_count) {
    std::vector<int> sizes(counts.begin(), counts.end()), first(counts.size());
    std::exclusive_scan(sizes.begin(), sizes.end(), first.begin(), 0);
    const auto me = static_cast<std::size_t>(rank());
    const void* const from = mine.data == at(all, first[me]) ? MPI_IN_PLACE : mine.data;
    const auto type = mpi_type(all.dtype);
    call_mpi("allgather", MPI_Allgatherv, MPI_Iallgatherv, from, sizes[me], type, all.data, sizes.data(), first.data(),
             type, impl_->mpi);
    return;
  }
  std::vector<ConstBlock> send(counts.size(),
                               {static_cast<const std::byte*>(mine.data), 1, mine.bytes(), mine.bytes()});
  std::vector<Block> receive;
  std::int64_t first = 0;
  for (const auto count : counts) {
    const auto bytes = count * static_cast<std::int64_t>(itemsize(all.dtype));
    receive.push_back({at(all, first), 1, bytes, bytes});
    first += count;
  }
  exchange(send, receive, site);
}

std::vector<std::int64_t> Communicator::allgather(std::int64_t value, Site site) const {
  check_collective(*this, {"allgather", 1, Dtype::int64}, site);
  impl_->count(sizeof value);
  std::vector<std::int64_t> all(static_cast<std::size_t>(size()));
  call_mpi("allgather", MPI_Allgather, MPI_Iallgather, &value, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, impl_->mpi);
  return all;
}

std::vector<std::int64_t> Communicator::alltoall(std::span<const std::int64_t> values, Site site) const {
  check_collective(*this, {"alltoall", 1, Dtype::int64}, site);
  if (std::ssize(values) != size())
    detail::raise<ValueError>("alltoall", "got {} values; expected one for each of {} ranks", values.size(), size());
  impl_->count((size() - 1) * static_cast<std::int64_t>(sizeof(std::int64_t)));
  std::vector<std::int64_t> received(values.size());
  const auto type = MPI_INT64_T;
  call_mpi("alltoall", MPI_Alltoall, MPI_Ialltoall, values.data(), 1, type, received.data(), 1, type, impl_->mpi);
  return received;
}

void Communicator::send(ConstBuffer data, int to) const {
  device::expect_host("send", data.memory);
  impl_->count(data.bytes());
  for_each_piece(data.bytes(), max_count, [&](std::int64_t first, int n) {
    const auto* const from = static_cast<const std::byte*>(data.data) + first;
    call_mpi("send", MPI_Send, MPI_Isend, from, n, MPI_BYTE, to, 1, impl_->mpi);
  });
}

void Communicator::receive(Buffer data, int from) const {
  device::expect_host("receive", data.memory);
  for_each_piece(data.bytes(), max_count, [&](std::int64_t first, int n) {
    auto* const to = static_cast<std::byte*>(data.data) + first;
    call_mpi("receive", receive_now, MPI_Irecv, to, n, MPI_BYTE, from, 1, impl_->mpi);
  });
}

Request Communicator::isend(ConstBuffer data, int to) const {
  device::expect_host("isend", data.memory);
  impl_->count(data.bytes());
  auto message = std::make_unique<detail::Pending>(*this, "isend");
  for_each_piece(data.bytes(), max_count, [&](std::int64_t first, int n) {
    const auto* from = static_cast<const std::byte*>(data.data) + first;
    check_mpi(MPI_Isend(from, n, MPI_BYTE, to, 1, impl_->mpi, &message->next()), "isend");
  });
  return detail::start(std::move(message));
}

Request Communicator::ireceive(Buffer data, int from) const {
  device::expect_host("ireceive", data.memory);
  auto message = std::make_unique<detail::Pending>(*this, "ireceive");
  for_each_piece(data.bytes(), max_count, [&](std::int64_t first, int n) {
    auto* to = static_cast<std::byte*>(data.data) + first;
    check_mpi(MPI_Irecv(to, n, MPI_BYTE, from, 1, impl_->mpi, &message->next()), "ireceive");
  });
  return detail::start(std::move(message));
}

std::optional<Communicator> Communicator::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  await_all(*this);
  check_mpi(MPI_Comm_split(impl_->mpi, color < 0 ? MPI_UNDEFINED : color, key, &part), "split");
  if (part == MPI_COMM_NULL) return std::nullopt;
  return Communicator(std::make_shared<Impl>(part));
}

Communicator Communicator::split_shared() const {
  MPI_Comm part = MPI_COMM_NULL;
  await_all(*this);
  check_mpi(MPI_Comm_split_type(impl_->mpi, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part), "split_shared");
  return Communicator(std::make_shared<Impl>(part));
}

}  // namespace heatpp
