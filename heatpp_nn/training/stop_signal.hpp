#pragma once

#include <heatpp/comm/communicator.hpp>
#include <csignal>

namespace heatpp::nn {

/// Records signals by which a batch system announces the end of a job (Slurm sends SIGTERM, or with `--signal`
/// SIGUSR1), so that all ranks stop at the same batch:
///     for (...) { ...; if (stop.agreed()) { save_checkpoint(...); break; } }
/// A second signal of the same kind acts as if this object did not exist. Only one object may exist at a time.
class StopSignal {
 public:
  explicit StopSignal(const Communicator& comm, std::vector<int> signals = {SIGTERM, SIGUSR1});
  /// Restores the previous handlers.
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Whether any rank had recorded a signal by the previous call; equal on all ranks. The reduction runs while the
  /// caller works, so no rank waits for it. Collective.
  [[nodiscard]] bool agreed();
  /// Whether any rank has recorded a signal by now. Collective: one blocking all-reduce.
  [[nodiscard]] bool agreed_now() const;

 private:
  struct Former {
    int signal;
    struct sigaction action;  // with its flags, which std::signal drops
  };

  Communicator comm_;
  std::vector<Former> former_;
  std::array<std::int64_t, 1> noted_{0};
  Request question_;
  bool asked_ = false, agreed_ = false;
};

}  // namespace heatpp::nn
