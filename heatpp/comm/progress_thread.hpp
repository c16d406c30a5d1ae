#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace heatpp {

/// While the object lives, a thread of its own advances the operations under way on this rank every `pause`. So they
/// overlap with a computation that does not call heatpp. If all cores compute, Linux from 6.12 on runs the thread as
/// soon as it wakes. If MPI was initialized with less than MPI_THREAD_MULTIPLE, the object does nothing and logs this
/// once. The thread calls `look` each time after that; `look` must not throw.
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
