#include <heatpp/comm/detail/progress/deadline.hpp>
#include <heatpp/comm/detail/progress/census.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/recovery/detail/family.hpp>
#include <heatpp/comm/recovery/detail/ulfm.hpp>

namespace heatpp::detail {
namespace {

constexpr double debugging_seconds = 30, usual_seconds = 1800;

std::atomic<bool> given_up{false};
std::atomic<double> limit_seconds{0};

std::optional<NotedCall>& latest() {
  static thread_local std::optional<NotedCall> call;
  return call;
}

[[noreturn]] void give_up(const NotedCall& call) {
  given_up = true;
  Census census(call.comm, call.print);
  const bool all = census.wait();
  if (all) census.check();
  const auto what =
      all ? std::string("no end of") : formatted("nothing from rank {} of {} in", census.missing(), call.comm.size());
  raise<CommError>(call.print.op, "got {} {} within {} s; expected all ranks to take part", what, call.print.text(),
                   patience_seconds());
}

}  // namespace

void limit_waits(const Settings& settings) {
  if (settings.timeout > 0) limit_seconds = settings.timeout;
  else if (settings.debug && limit_seconds == 0) limit_seconds = debugging_seconds;
}

bool waits_are_limited() { return limit_seconds > 0; }
bool calls_are_noted() { return waits_are_limited() || ulfm::is_on(); }
double patience_seconds() { return limit_seconds > 0 ? limit_seconds.load() : usual_seconds; }

void note(NotedCall call) { latest() = std::move(call); }
const std::optional<NotedCall>& latest_call() { return latest(); }
void forget_call() { latest().reset(); }

void check_deadline(const Deadline& deadline, const std::optional<NotedCall>& call) {
  const bool passed = deadline.passed();
  if (call) expect_ranks(*call);
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
