#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/progress/pending.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/collectives.hpp>

namespace heatpp {

using namespace detail;

namespace {

/// Returns the tag that MPI gets.
int checked_tag(const char* op, int tag) {
  if (tag < 0 || tag >= user_tags) raise<ValueError>(op, "got the tag {}; expected 0 <= tag < {}", tag, user_tags);
  return first_user_tag + tag;
}

std::unique_ptr<Pending> start_send(const char* op, const Communicator& comm, const ConstBuffer& data, int to,
                                    int tag) {
  device::expect_host(op, data.memory);
  expect_running(op);
  const int full_tag = checked_tag(op, tag);
  comm.impl().count(data.bytes());
  auto message = std::make_unique<Pending>(comm, op);
  for_each_piece(data.bytes(), max_count, [&](std::int64_t first, int n) {
    const auto* const from = static_cast<const std::byte*>(data.data) + first;
    check_mpi(MPI_Isend(from, n, MPI_BYTE, to, full_tag, comm.impl().mpi, &message->next()), op);
  });
  return message;
}

std::unique_ptr<Pending> start_receive(const char* op, const Communicator& comm, const Buffer& data, int from,
                                       int tag) {
  device::expect_host(op, data.memory);
  expect_running(op);
  const int full_tag = checked_tag(op, tag);
  if (from == any_rank && data.bytes() > max_count)
    raise<ValueError>(op, "got {} bytes from any rank; expected a rank, or at most {}", data.bytes(), max_count);
  auto message = std::make_unique<Pending>(comm, op);
  for_each_piece(data.bytes(), max_count, [&](std::int64_t first, int n) {
    check_mpi(MPI_Irecv(static_cast<std::byte*>(data.data) + first, n, MPI_BYTE,
                        from == any_rank ? MPI_ANY_SOURCE : from, full_tag, comm.impl().mpi, &message->next()),
              op);
  });
  return message;
}

}  // namespace

void Communicator::send(ConstBuffer data, int to, int tag) const { run(start_send("send", *this, data, to, tag)); }

int Communicator::receive(Buffer data, int from, int tag) const {
  auto source = std::make_shared<int>(from);
  auto message = start_receive("receive", *this, data, from, tag);
  if (from == any_rank) message->tell_source(source);
  run(std::move(message));
  return *source;
}

Request Communicator::isend(ConstBuffer data, int to, int tag) const {
  return start(start_send("isend", *this, data, to, tag));
}

Request Communicator::ireceive(Buffer data, int from, int tag) const {
  return start(start_receive("ireceive", *this, data, from, tag));
}

}  // namespace heatpp
