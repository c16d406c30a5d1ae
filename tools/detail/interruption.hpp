#pragma once

#include <heatpp_nn/training/stop_signal.hpp>

namespace tools {

/// While it exists, Ctrl-C and SIGTERM wait for the end of a piece of work. Then all ranks stop with an error and undo
/// what they began. A second signal acts as if this object did not exist. One object at a time.
class Interruption {
 public:
  Interruption();

  /// Throws Error on all ranks if one of them has received a signal. Collective: one small allreduce.
  void check(const char* op) const;

 private:
  heatpp::nn::StopSignal stop_;
};

}  // namespace tools
