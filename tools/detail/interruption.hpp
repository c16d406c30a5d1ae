#pragma once

#include <csignal>
#include <vector>

namespace tools {

/// While it lives, Ctrl-C and SIGTERM wait for the end of a piece of work, where all ranks stop by an error, which
/// takes back what they began. A second signal acts as if this object were not there. One object at a time.
class Interruption {
 public:
  Interruption();
  /// Puts the former handlers back.
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Throws Error on all ranks where one of them has got a signal. Collective: one small allreduce.
  void check(const char* op) const;

 private:
  struct Former {
    int signal;
    void (*handler)(int);
  };

  std::vector<Former> former_;
};

}  // namespace tools
