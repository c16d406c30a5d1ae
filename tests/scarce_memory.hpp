#pragma once

#include <heatpp/comm/communicator.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

/// While it exists, the last rank cannot allocate much more memory than it has now.
class ScarceMemory {
 public:
  ScarceMemory() {
    ::getrlimit(RLIMIT_AS, &before_);
    if (heatpp::world().rank() + 1 < heatpp::world().size()) return;
    constexpr rlim_t a_little = rlim_t{32} << 20;
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit now{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + a_little, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~ScarceMemory() { ::setrlimit(RLIMIT_AS, &before_); }
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;

 private:
  rlimit before_{};
};
