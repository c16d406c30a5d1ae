#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/kept/attached.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/shared/collectives.hpp>
#include <heatpp/comm/recovery/detail/family.hpp>

namespace heatpp {

using detail::check_mpi;

int Communicator::rank() const noexcept { return impl_->rank; }
int Communicator::size() const noexcept { return impl_->size; }
std::uint64_t Communicator::group() const noexcept { return impl_->group; }
bool Communicator::same_ranks(const Communicator& other) const {
  if (*this == other) return true;
  if (impl_->alone != other.impl_->alone) return false;
  detail::expect_running("same_ranks");
  int found = MPI_UNEQUAL;
  check_mpi(MPI_Comm_compare(impl_->mpi, other.impl_->mpi, &found), "same_ranks");
  return found == MPI_IDENT || found == MPI_CONGRUENT;
}
CommCounters Communicator::counters() const noexcept { return {impl_->calls, impl_->bytes}; }

namespace {

/// Makes a part of `comm` by `make(&part)`, a blocking function of MPI.
template <class Make>
std::optional<Communicator> part_of(const Communicator& comm, const char* op, Communicator::Site site, Make make) {
  detail::check_collective(comm, {op}, site);
  detail::await_all(comm, op);
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(make(&part), op);
  if (part == MPI_COMM_NULL) return std::nullopt;
  Communicator made(std::make_shared<Communicator::Impl>(part));
  detail::join_family(part, comm.impl().mpi);
  made.impl().settings = comm.impl().settings;
  made.impl().part = comm.impl().part || made.size() < comm.size();
  made.impl().node = comm.impl().node;
  detail::share_memory(made);
  return made;
}

}  // namespace

std::optional<Communicator> Communicator::split(int color, int key, Site site) const {
  return part_of(*this, "split", site, [&](MPI_Comm* made) {
    return MPI_Comm_split(impl_->mpi, color < 0 ? MPI_UNDEFINED : color, key, made);
  });
}

Communicator Communicator::split_shared(Site site) const {
  return *part_of(*this, "split_shared", site, [&](MPI_Comm* made) {
    return MPI_Comm_split_type(impl_->mpi, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made);
  });
}

std::shared_ptr<void> detail::attached(const Communicator& comm, std::shared_ptr<void> (*make)()) {
  auto& impl = comm.impl();
  std::call_once(impl.attaches, [&] { impl.attached = make(); });
  return impl.attached;
}

}  // namespace heatpp
