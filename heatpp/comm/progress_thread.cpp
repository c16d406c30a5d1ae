#include <heatpp/comm/progress_thread.hpp>

#include <heatpp/comm/log.hpp>
#include <heatpp/comm/request.hpp>

#include <mpi.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace heatpp {
namespace {

/// Asks Linux for the shortest time slices, 0.1 ms. Then this thread, which sleeps most of the time, runs as soon as it
/// wakes, although others compute on all cores. Kernels before 6.12 ignore this; real-time policies stay.
void ask_for_short_slices() {
#ifdef SYS_sched_setattr
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t slice, deadline, period;  // in ns
  } attributes{};
  constexpr auto size = sizeof attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, size, 0) != 0 || attributes.policy != 0) return;
  attributes.slice = 100'000;
  syscall(SYS_sched_setattr, 0, &attributes, 0);  // may fail: messages arrive without it, too
#endif
}

void warn_once() {
  static const bool warned = [] {
    log(LogLevel::warning,
        "[ProgressThread] got MPI with less than MPI_THREAD_MULTIPLE; expected that: without it there is no progress "
        "thread, and what is under way goes on in calls of heatpp only, such as progress()");
    return true;
  }();
  static_cast<void>(warned);
}

}  // namespace

struct ProgressThread::Impl {
  std::mutex mutex;
  std::condition_variable wake;
  bool stop = false;
  std::function<void()> look;
  std::thread thread;

  Impl(std::chrono::microseconds pause, std::function<void()> also)
      : look(std::move(also)), thread([this, pause] { run(pause); }) {}
  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    wake.notify_one();
    thread.join();
  }
  void run(std::chrono::microseconds pause) {
    ask_for_short_slices();
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, pause, [this] { return stop; })) {
      lock.unlock();
      progress();
      if (look) look();
      lock.lock();
    }
  }
};

ProgressThread::ProgressThread(std::chrono::microseconds pause, std::function<void()> look) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) impl_ = std::make_unique<Impl>(pause, std::move(look));
  else warn_once();
}
ProgressThread::~ProgressThread() = default;
ProgressThread::ProgressThread(ProgressThread&&) noexcept = default;
ProgressThread& ProgressThread::operator=(ProgressThread&&) noexcept = default;

}  // namespace heatpp
