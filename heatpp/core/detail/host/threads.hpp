#pragma once

namespace heatpp::detail {

/// Has LibTorch compute on the calling thread in as many threads as OpenMP gives it. Without this the first use of
/// threads by LibTorch sets OpenMP's number for the thread to that of MKL, which the host's own loops would have from
/// then on. Once for each thread; later calls cost nothing.
void take_host_threads();

/// OpenMP's number of threads for the calling thread, until the end of the scope; 0: as it is.
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
