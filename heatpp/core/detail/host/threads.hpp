#pragma once

namespace heatpp::detail {

/// Makes LibTorch compute on the calling thread with as many threads as OpenMP gives it. Otherwise LibTorch's first use
/// of threads sets OpenMP's number for the thread to that of MKL, and the host's own loops would get it from then on.
/// Once for each thread; later calls cost nothing.
void take_host_threads();

/// Sets OpenMP's number of threads for the calling thread until the end of the scope; 0 leaves it.
class ThreadsInScope {
 public:
  explicit ThreadsInScope(int threads);
  ~ThreadsInScope();
  ThreadsInScope(const ThreadsInScope&) = delete;
  ThreadsInScope& operator=(const ThreadsInScope&) = delete;

 private:
  int before_ = 0;
};

}  // namespace heatpp::detail
