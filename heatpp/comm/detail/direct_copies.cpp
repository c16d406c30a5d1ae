#include <heatpp/comm/detail/direct_copies.hpp>

#include <algorithm>
#include <utility>

namespace heatpp::detail {
namespace {

// Smaller blocks are not worth two more messages; shorter runs cost the kernel more than packing does.
constexpr std::int64_t least_bytes = std::int64_t{1} << 20, least_run = 4096;
// Bytes copied between two looks at other messages: under a millisecond, and few enough runs for one call.
constexpr std::int64_t step_bytes = std::int64_t{2} << 20;

template <class B>
bool has_long_runs(const B& block) {
  return block.contiguous() || block.run_bytes >= least_run;
}

/// Returns the ranks that once could not read another's memory, or be read.
std::vector<bool>& refused(std::vector<bool>& ranks, const Communicator& comm) {
  ranks.resize(static_cast<std::size_t>(comm.size()));
  return ranks;
}

}  // namespace

DirectCopies::DirectCopies(const Communicator& comm, const Sends& send, const Receives& receive, const char* call,
                           const ExchangeTags& tags)
    : comm_(comm), call_(call), tags_(tags) {
  if (!comm.impl().settings->shared_memory) return;
  const auto& not_to = refused(comm.impl().no_copies_to, comm);
  const auto& not_from = refused(comm.impl().no_copies_from, comm);
  for (const auto& [rank, block] : send)
    if (block.bytes() >= least_bytes && !not_to[static_cast<std::size_t>(rank)])
      sends_.push_back({.rank = rank, .from = whereabouts(block)});
  for (const auto& [rank, block] : receive)
    if (block.bytes() >= least_bytes && !not_from[static_cast<std::size_t>(rank)])
      receives_.push_back({.rank = rank, .to = block});
}

bool DirectCopies::arrived(MPI_Request& request) const {
  int done = 0;
  check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call_);
  return done != 0;
}

void DirectCopies::send_step(Copy& copy) {
  const auto mpi = comm_.impl().mpi;
  if (!std::exchange(copy.started, true)) {
    check_mpi(MPI_Isend(&copy.from, sizeof copy.from, MPI_BYTE, copy.rank, tags_.whereabouts, mpi, &copy.told), call_);
    check_mpi(MPI_Irecv(&copy.answer, 1, MPI_INT, copy.rank, tags_.answer, mpi, &copy.answered), call_);
  }
  const bool told = arrived(copy.told), answered = arrived(copy.answered);
  copy.ended = told && answered;
  if (copy.ended && copy.answer == never) comm_.impl().no_copies_to[static_cast<std::size_t>(copy.rank)] = true;
}

void DirectCopies::receive_step(Copy& copy) {
  const auto mpi = comm_.impl().mpi;
  if (!std::exchange(copy.started, true))
    check_mpi(MPI_Irecv(&copy.from, sizeof copy.from, MPI_BYTE, copy.rank, tags_.whereabouts, mpi, &copy.told), call_);
  if (!arrived(copy.told)) return;
  if (copy.done == 0 && copy.answered == MPI_REQUEST_NULL) {
    if (!is_readable(copy.from)) copy.answer = never;
    else if (copy.from.block.bytes() != copy.to.bytes() || !has_long_runs(copy.from.block) || !has_long_runs(copy.to))
      copy.answer = not_this;
  }
  if (copy.answer == copied && copy.done < copy.to.bytes()) {
    const auto length = std::min(step_bytes, copy.to.bytes() - copy.done);
    if (!copy_from_peer(copy.from, copy.to, copy.done, length)) copy.answer = not_this;
    copy.done += length;
    if (copy.answer == copied && copy.done < copy.to.bytes()) return;
  }
  if (copy.answered == MPI_REQUEST_NULL)
    check_mpi(MPI_Isend(&copy.answer, 1, MPI_INT, copy.rank, tags_.answer, mpi, &copy.answered), call_);
  copy.ended = arrived(copy.answered);
  if (copy.ended && copy.answer == never) comm_.impl().no_copies_from[static_cast<std::size_t>(copy.rank)] = true;
}

bool DirectCopies::advance() {
  for (auto& copy : sends_)
    if (!copy.ended) send_step(copy);
  for (auto& copy : receives_)
    if (!copy.ended) receive_step(copy);
  const auto ended = [](const auto& copies) { return std::ranges::all_of(copies, &Copy::ended); };
  return ended(sends_) && ended(receives_);
}

bool DirectCopies::in_flight() const {
  const auto pending = [](const Copy& copy) { return copy.started && !copy.ended; };
  return std::ranges::any_of(sends_, pending) || std::ranges::any_of(receives_, pending);
}

bool DirectCopies::sent(int rank) const {
  return std::ranges::any_of(sends_, [&](const Copy& copy) { return copy.rank == rank && copy.answer == copied; });
}
bool DirectCopies::received(int rank) const {
  return std::ranges::any_of(receives_, [&](const Copy& copy) { return copy.rank == rank && copy.answer == copied; });
}

}  // namespace heatpp::detail
