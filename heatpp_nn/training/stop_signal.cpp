#include <heatpp_nn/training/stop_signal.hpp>

namespace heatpp::nn {
namespace {

volatile std::sig_atomic_t signalled = 0;

void note(int signal) {
  signalled = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

StopSignal::StopSignal(const Communicator& comm, std::vector<int> signals) : comm_(comm) {
  signalled = 0;
  struct sigaction noting {};
  noting.sa_handler = note;
  noting.sa_flags = SA_RESTART;
  for (const int signal : signals) sigaction(signal, &noting, &former_.emplace_back(Former{signal, {}}).action);
}

StopSignal::~StopSignal() {
  for (const auto& [signal, action] : former_) sigaction(signal, &action, nullptr);
}

bool StopSignal::agreed() {
  if (agreed_) return true;
  if (asked_) question_.wait();
  agreed_ = asked_ && noted_[0] != 0;
  if (agreed_) return true;
  noted_[0] = signalled;
  question_ = comm_.iallreduce(noted_, ReduceOp::max);
  asked_ = true;
  return false;
}

bool StopSignal::agreed_now() const {
  std::array<std::int64_t, 1> any{signalled};
  comm_.allreduce(any, ReduceOp::max);
  return any[0] != 0;
}

}  // namespace heatpp::nn
