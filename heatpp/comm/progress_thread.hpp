#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace heatpp {

/// While it lives, a thread of its own makes the operations under way on this rank progress every `pause`, so that they
/// overlap with a computation that calls nothing of heatpp. Where all cores compute, Linux from 6.12 on lets it run as
/// soon as it wakes. Does nothing, and says so once in the log, where MPI was initialised with less than
/// MPI_THREAD_MULTIPLE. What `look` is given, it calls each time after that; it must not throw.
class ProgressThread {
 public:
  explicit ProgressThread(std::chrono::microseconds pause = std::chrono::microseconds(200),
                          std::function<void()> look = {});
  ~ProgressThread();
  ProgressThread(ProgressThread&&) noexcept;
  ProgressThread& operator=(ProgressThread&&) noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatpp
