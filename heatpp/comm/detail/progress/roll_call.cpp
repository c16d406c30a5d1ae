#include <heatpp/comm/detail/progress/roll_call.hpp>
#include <heatpp/comm/detail/hash.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <cstring>

namespace heatpp::detail {

Fingerprint::Fingerprint(const Call& call, const std::source_location& at, std::string_view by)
    : plan_hash(hash_of(call.plan)), count(call.count), dtype(call.dtype), detail(call.detail) {
  std::strncpy(op, call.op, sizeof op - 1);
  const std::string_view path = at.file_name();
  const auto tail = path.substr(path.size() > 120 ? path.size() - 120 : 0);
  fmt::format_to_n(site, sizeof site - 1, "{}:{}", tail, at.line());
  if (by != site) by.substr(by.size() - std::min(by.size(), sizeof caller - 1)).copy(caller, sizeof caller - 1);
  std::strncpy(plan, call.plan.c_str(), sizeof plan - 1);
}

bool Fingerprint::agrees(const Fingerprint& other) const {
  return std::strcmp(op, other.op) == 0 && count == other.count && dtype == other.dtype && detail == other.detail &&
         plan_hash == other.plan_hash;
}

std::string Fingerprint::text() const {
  const auto how = detail.text();
  const auto elements = dtype ? formatted(" of {} x {}", count, name(*dtype)) : std::string();
  return formatted("{}{}{}{}{}{} at {}{}{}", op, elements, how.empty() ? "" : ", ", how, *plan ? ", " : "", plan, site,
                   *caller ? ", called by " : "", caller);
}

RollCall::RollCall(const Communicator& comm, const Fingerprint& mine, int tag)
    : comm_(comm),
      mine_(mine),
      all_(static_cast<std::size_t>(comm.size())),
      requests_(2 * all_.size(), MPI_REQUEST_NULL) {
  const auto mpi = comm.impl().mpi;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (rank == comm.rank()) {
      all_[r] = mine;
      continue;
    }
    check_mpi(MPI_Irecv(&all_[r], sizeof mine, MPI_BYTE, rank, tag, mpi, &requests_[r]), mine.op);
    check_mpi(MPI_Isend(&mine_, sizeof mine, MPI_BYTE, rank, tag, mpi, &requests_[all_.size() + r]), mine.op);
  }
}

RollCall::~RollCall() {
  for (auto& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    comm_.impl().failed = true;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

bool RollCall::ended() {
  int done = 0;
  check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), mine_.op);
  return done != 0;
}

std::string RollCall::missing() {
  std::string ranks;
  for (std::size_t rank = 0; rank < all_.size(); ++rank) {
    int arrived = 1;
    MPI_Test(&requests_[rank], &arrived, MPI_STATUS_IGNORE);
    if (!arrived) ranks += formatted("{}{}", ranks.empty() ? "" : ", ", rank);
  }
  return ranks;
}

void RollCall::check() const {
  const auto other = std::ranges::find_if(all_, [&](const auto& print) { return !print.agrees(all_[0]); });
  if (other != all_.end())
    raise<CommError>(mine_.op, "got {} on rank 0 and {} on rank {}; expected the same call on all ranks",
                     all_[0].text(), other->text(), other - all_.begin());
}

}  // namespace heatpp::detail
