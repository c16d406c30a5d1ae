#include "interruption.hpp"

#include <heatpp/comm/detail/raise.hpp>

#include <csignal>

namespace tools {

namespace ht = heatpp;

namespace {

/// Returns the signals that are not ignored; a shell ignores some for programs in the background.
std::vector<int> heeded(std::initializer_list<int> signals) {
  std::vector<int> found;
  for (const int signal : signals) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) found.push_back(signal);
  }
  return found;
}

}  // namespace

Interruption::Interruption() : stop_(ht::world(), heeded({SIGINT, SIGTERM})) {}

void Interruption::check(const char* op) const {
  if (stop_.agreed_now())
    ht::detail::raise<ht::Error>(
        op, "got a signal to end; expected no signal before the end: the unfinished file is removed");
}

}  // namespace tools
