#include <heatpp/comm/detail/progress/deadline.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <thread>

namespace heatpp::detail {
namespace {

constexpr std::chrono::seconds time_to_answer{1};
constexpr double debugging_seconds = 30, usual_seconds = 1800;

std::atomic<bool> given_up{false};
std::atomic<double> limit_seconds{0};

std::optional<NotedCall>& latest() {
  static thread_local std::optional<NotedCall> call;
  return call;
}

bool somebody_gave_up(const Communicator& comm) {
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, gave_up_tag, comm.impl().mpi, &found, MPI_STATUS_IGNORE);
  return found != 0;
}

[[noreturn]] void give_up(const NotedCall& call) {
  given_up = true;
  auto& calls =
      *new RollCall(call.comm, call.print, gave_up_tag);  // stays, because a rank that died receives nothing any more
  const auto end = std::chrono::steady_clock::now() + time_to_answer;
  bool all = false;
  while (!(all = calls.ended()) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  if (all) calls.check();
  const auto what =
      all ? std::string("no end of") : formatted("nothing from rank {} of {} in", calls.missing(), call.comm.size());
  raise<CommError>(call.print.op, "got {} {} within {} s; expected all ranks to take part", what, call.print.text(),
                   patience_seconds());
}

}  // namespace

void limit_waits(const Settings& settings) {
  if (settings.timeout > 0) limit_seconds = settings.timeout;
  else if (settings.debug && limit_seconds == 0) limit_seconds = debugging_seconds;
}

bool waits_are_limited() { return limit_seconds > 0; }
double patience_seconds() { return limit_seconds > 0 ? limit_seconds.load() : usual_seconds; }

void note(NotedCall call) { latest() = std::move(call); }
const std::optional<NotedCall>& latest_call() { return latest(); }

void check_deadline(const Deadline& deadline, const std::optional<NotedCall>& call) {
  const bool passed = deadline.passed();
  if (call && (passed || somebody_gave_up(call->comm))) give_up(*call);
  if (passed) give_up_waiting("wait", "no message", "one");
}

void give_up_waiting(const char* op, std::string_view what, std::string_view expected) {
  given_up = true;
  raise<CommError>(op, "got {} within {} s; expected {}, or a larger HEATPP_TIMEOUT", what, patience_seconds(),
                   expected);
}

bool gave_up() { return given_up; }

}  // namespace heatpp::detail
