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

void Said::add(const Said& more) {
  if (more.lowest < lowest) {
    auto all = more;
    all.add(*this);
    *this = all;
    return;
  }
  const bool differs = !more.print.agrees(print);
  const auto rank = differs ? more.lowest : more.other;
  if (rank < 0 || (other >= 0 && other <= rank)) return;
  other = rank;
  other_print = differs ? more.print : more.other_print;
}

void Said::check(const char* op) const {
  if (other >= 0)
    raise<CommError>(op, "got {} on rank {} and {} on rank {}; expected the same call on all ranks", print.text(),
                     lowest, other_print.text(), other);
}

void RollCall::begin_round() {
  const auto rank = comm_.rank(), ranks = comm_.size();
  const auto mpi = comm_.impl().mpi;
  const auto bytes = static_cast<int>(sizeof(Said));
  sent_ = said_;
  const auto from = (rank + ranks - distance_) % ranks, to = (rank + distance_) % ranks;
  check_mpi(MPI_Irecv(&heard_, bytes, MPI_BYTE, from, roll_call_tag, mpi, &requests_[0]), said_.print.op);
  check_mpi(MPI_Isend(&sent_, bytes, MPI_BYTE, to, roll_call_tag, mpi, &requests_[1]), said_.print.op);
  under_way_ = true;
}

bool RollCall::ended() {
  for (; distance_ < comm_.size(); distance_ *= 2) {
    if (!under_way_) begin_round();
    int done = 0;
    check_mpi(MPI_Testall(2, requests_.data(), &done, MPI_STATUSES_IGNORE), said_.print.op);
    if (!done) return false;
    under_way_ = false;
    said_.add(heard_);
  }
  return true;
}

RollCall::~RollCall() {
  if (distance_ < comm_.size()) comm_.impl().failed = true;
  for (auto& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

}  // namespace heatpp::detail
