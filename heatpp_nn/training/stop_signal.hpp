#pragma once

#include <heatpp/comm/communicator.hpp>
#include <csignal>

namespace heatpp::nn {

/// Notes signals by which a batch system announces the end of a job (Slurm sends SIGTERM, or with `--signal` SIGUSR1),
/// so that all ranks stop at the same batch:
///     for (...) { ...; if (stop.agreed()) { save_checkpoint(...); break; } }
/// A second signal of the kind acts as if this object were not there. One object at a time.
class StopSignal {
 public:
  explicit StopSignal(const Communicator& comm, std::vector<int> signals = {SIGTERM, SIGUSR1});
  /// Puts the former handlers back.
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Whether any rank had noted a signal by the call before this one; the same on all ranks. The question travels while
  /// the caller works, so that nobody waits for it. Collective.
  [[nodiscard]] bool agreed();
  /// Whether any rank has noted a signal by now. Collective: one all-reduce that is waited for.
  [[nodiscard]] bool agreed_now() const;

 private:
  struct Former {
    int signal;
    struct sigaction action;  // with its flags, which std::signal forgets
  };

  Communicator comm_;
  std::vector<Former> former_;
  std::array<std::int64_t, 1> noted_{0};
  Request question_;
  bool asked_ = false, agreed_ = false;
};

}  // namespace heatpp::nn
