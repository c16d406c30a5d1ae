#pragma once

#include <heatpp_nn/training/stop_signal.hpp>

namespace tools {

/// While it lives, Ctrl-C and SIGTERM wait for the end of a piece of work, where all ranks stop by an error, which
/// takes back what they began. A second signal acts as if this object were not there. One object at a time.
class Interruption {
 public:
  Interruption();

  /// Throws Error on all ranks where one of them has got a signal. Collective: one small allreduce.
  void check(const char* op) const;

 private:
  heatpp::nn::StopSignal stop_;
};

}  // namespace tools
