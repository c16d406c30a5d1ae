#include "interruption.hpp"

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/raise.hpp>

namespace tools {

namespace ht = heatpp;

namespace {

volatile std::sig_atomic_t signalled = 0;

void note(int signal) {
  signalled = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interruption::Interruption() {
  signalled = 0;
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto handler = std::signal(signal, note);
    former_.push_back({signal, handler});
    if (handler == SIG_IGN) std::signal(signal, SIG_IGN);  // as a shell has it for what runs in the background
  }
}

Interruption::~Interruption() {
  for (const auto& [signal, handler] : former_) std::signal(signal, handler);
}

void Interruption::check(const char* op) const {
  std::array<std::int64_t, 1> any{signalled};
  ht::world().allreduce(any, ht::ReduceOp::max);
  if (any[0] != 0)
    ht::detail::raise<ht::Error>(op, "got a signal to end; expected time for all rows: the file begun is removed");
}

}  // namespace tools
