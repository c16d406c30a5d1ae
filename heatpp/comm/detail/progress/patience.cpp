#include <heatpp/comm/detail/progress/patience.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <cstdlib>

namespace heatpp::detail {
namespace {

constexpr int tag = 4;
constexpr std::chrono::seconds time_to_answer{1};

std::atomic<bool> given_up{false};

double given_seconds() {
  const char* value = std::getenv("HEATPP_TIMEOUT");
  return value ? std::atof(value) : 0;
}

std::optional<Noted>& latest() {
  static thread_local std::optional<Noted> call;
  return call;
}

bool somebody_gave_up(const Communicator& comm) {
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.impl().mpi, &found, MPI_STATUS_IGNORE);
  return found != 0;
}

[[noreturn]] void give_up(const Noted& call) {
  given_up = true;
  auto& calls = *new RollCall(call.comm, call.print, tag);  // stays, since a rank that died takes nothing any more
  const auto end = std::chrono::steady_clock::now() + time_to_answer;
  bool all = false;
  while (!(all = calls.ended()) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  if (all) calls.check();
  const auto what =
      all ? std::string("no end of") : fmt::format("nothing from rank {} of {} in", calls.missing(), call.comm.size());
  raise<CommError>(call.print.op, "got {} {} within {} s; expected all ranks to take part", what, call.print.text(),
                   patience_seconds());
}

}  // namespace

bool waits_are_limited() {
  static const bool limited = given_seconds() > 0 || debugging();
  return limited;
}

double patience_seconds() {
  static const double seconds = given_seconds() > 0 ? given_seconds() : 30;
  return seconds;
}

void note(Noted call) { latest() = std::move(call); }
const std::optional<Noted>& latest_call() { return latest(); }

void check_deadline(const Deadline& deadline, const std::optional<Noted>& call) {
  const bool passed = deadline.passed();
  if (call && (passed || somebody_gave_up(call->comm))) give_up(*call);
  if (!passed) return;
  given_up = true;
  raise<CommError>("wait", "got no message within {} s; expected one", patience_seconds());
}

bool gave_up() { return given_up; }

void await(MPI_Request& request, const char* op) {
  const Deadline deadline;
  int done = 0;
  for (int tries = 1; check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), op), !done; ++tries)
    if (tries % 256 == 0) {
      std::this_thread::yield();
      check_deadline(deadline, latest_call());
    }
}

void await_all(const Communicator& comm) {
  if (!waits_are_limited()) return;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm.impl().mpi, &request), "barrier");
  await(request, "barrier");
}

}  // namespace heatpp::detail
