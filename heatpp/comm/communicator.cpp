#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {

using detail::check_mpi;
using detail::for_each_piece;
using detail::max_count;
using detail::mpi_op;
using detail::mpi_type;

namespace {

std::byte* at(const Buffer& data, std::int64_t first) {
  return static_cast<std::byte*>(data.data) + first * static_cast<std::int64_t>(itemsize(data.dtype));
}

}  // namespace

int Communicator::rank() const noexcept { return impl_->rank; }
int Communicator::size() const noexcept { return impl_->size; }
CommCounters Communicator::counters() const noexcept { return {impl_->calls, impl_->bytes}; }

void Communicator::barrier() const {
  impl_->count(0);
  check_mpi(MPI_Barrier(impl_->mpi), "barrier");
}

void Communicator::allreduce(Buffer data, ReduceOp op) const {
  const auto mpi = mpi_op(op, data.dtype);
  impl_->count(data.bytes());
  if (size() == 1) return;
  for_each_piece(data.count, max_count, [&](std::int64_t first, int n) {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, at(data, first), n, mpi_type(data.dtype), mpi, impl_->mpi), "allreduce");
  });
}

Request Communicator::iallreduce(Buffer data, ReduceOp op) const {
  const auto mpi = mpi_op(op, data.dtype);
  impl_->count(data.bytes());
  auto request = std::make_unique<Request::Impl>();
  for_each_piece(data.count, max_count, [&](std::int64_t first, int n) {
    auto& pending = request->pending.emplace_back();
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, at(data, first), n, mpi_type(data.dtype), mpi, impl_->mpi, &pending),
              "iallreduce");
  });
  return Request(std::move(request));
}

void Communicator::exscan(Buffer data, ReduceOp op) const {
  const auto mpi = mpi_op(op, data.dtype);
  impl_->count(data.bytes());
  for_each_piece(data.count, max_count, [&](std::int64_t first, int n) {
    check_mpi(MPI_Exscan(MPI_IN_PLACE, at(data, first), n, mpi_type(data.dtype), mpi, impl_->mpi), "exscan");
  });
}

void Communicator::broadcast(Buffer data, int root) const {
  impl_->count(data.bytes());
  if (size() == 1) return;
  for_each_piece(data.count, max_count, [&](std::int64_t first, int n) {
    check_mpi(MPI_Bcast(at(data, first), n, mpi_type(data.dtype), root, impl_->mpi), "broadcast");
  });
}

void Communicator::reduce_scatter(Buffer data, std::span<const std::int64_t> counts, ReduceOp op) const {
  const auto mpi = mpi_op(op, data.dtype);
  impl_->count(data.bytes());
  const auto me = static_cast<std::size_t>(rank());
  std::vector<std::byte> mine(static_cast<std::size_t>(counts[me]) * itemsize(data.dtype));
  if (data.count < max_count) {
    const std::vector<int> sizes(counts.begin(), counts.end());
    check_mpi(MPI_Reduce_scatter(data.data, mine.data(), sizes.data(), mpi_type(data.dtype), mpi, impl_->mpi),
              "reduce_scatter");
  } else {
    allreduce(data, op);
    return;
  }
  std::ranges::copy(mine, at(data, std::reduce(counts.begin(), counts.begin() + rank())));
}

void Communicator::allgather(ConstBuffer mine, Buffer all, std::span<const std::int64_t> counts) const {
  impl_->count(mine.bytes());
  if (all.count < max_count) {
    std::vector<int> sizes(counts.begin(), counts.end()), first(counts.size());
    std::exclusive_scan(sizes.begin(), sizes.end(), first.begin(), 0);
    const auto me = static_cast<std::size_t>(rank());
    const bool in_place = mine.data == at(all, first[me]);
    check_mpi(MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine.data, sizes[me], mpi_type(mine.dtype), all.data,
                             sizes.data(), first.data(), mpi_type(all.dtype), impl_->mpi),
              "allgather");
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
  exchange(send, receive);
}

std::vector<std::int64_t> Communicator::allgather(std::int64_t value) const {
  impl_->count(sizeof value);
  std::vector<std::int64_t> all(static_cast<std::size_t>(size()));
  check_mpi(MPI_Allgather(&value, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, impl_->mpi), "allgather");
  return all;
}

std::vector<std::int64_t> Communicator::alltoall(std::span<const std::int64_t> values) const {
  if (std::ssize(values) != size())
    detail::raise<ValueError>("alltoall", "got {} values; expected one for each of {} ranks", values.size(), size());
  impl_->count((size() - 1) * static_cast<std::int64_t>(sizeof(std::int64_t)));
  std::vector<std::int64_t> received(values.size());
  check_mpi(MPI_Alltoall(values.data(), 1, MPI_INT64_T, received.data(), 1, MPI_INT64_T, impl_->mpi), "alltoall");
  return received;
}

void Communicator::send(ConstBuffer data, int to) const {
  impl_->count(data.bytes());
  for_each_piece(data.bytes(), max_count, [&](std::int64_t first, int n) {
    check_mpi(MPI_Send(static_cast<const std::byte*>(data.data) + first, n, MPI_BYTE, to, 1, impl_->mpi), "send");
  });
}

void Communicator::receive(Buffer data, int from) const {
  for_each_piece(data.bytes(), max_count, [&](std::int64_t first, int n) {
    check_mpi(MPI_Recv(static_cast<std::byte*>(data.data) + first, n, MPI_BYTE, from, 1, impl_->mpi, MPI_STATUS_IGNORE),
              "receive");
  });
}

Request Communicator::isend(ConstBuffer data, int to) const {
  impl_->count(data.bytes());
  auto request = std::make_unique<Request::Impl>();
  for_each_piece(data.bytes(), max_count, [&](std::int64_t first, int n) {
    const auto* from = static_cast<const std::byte*>(data.data) + first;
    check_mpi(MPI_Isend(from, n, MPI_BYTE, to, 1, impl_->mpi, &request->pending.emplace_back()), "isend");
  });
  return Request(std::move(request));
}

Request Communicator::ireceive(Buffer data, int from) const {
  auto request = std::make_unique<Request::Impl>();
  for_each_piece(data.bytes(), max_count, [&](std::int64_t first, int n) {
    auto* to = static_cast<std::byte*>(data.data) + first;
    check_mpi(MPI_Irecv(to, n, MPI_BYTE, from, 1, impl_->mpi, &request->pending.emplace_back()), "ireceive");
  });
  return Request(std::move(request));
}

std::optional<Communicator> Communicator::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(impl_->mpi, color < 0 ? MPI_UNDEFINED : color, key, &part), "split");
  if (part == MPI_COMM_NULL) return std::nullopt;
  return Communicator(std::make_shared<Impl>(part));
}

Communicator Communicator::split_shared() const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(impl_->mpi, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part), "split_shared");
  return Communicator(std::make_shared<Impl>(part));
}

}  // namespace heatpp
