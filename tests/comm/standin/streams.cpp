#include "control.hpp"
#include "device.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <deque>
#include <list>
#include <set>
#include <thread>

struct CUstream_st {
  int device = 0;
  std::deque<standin::Task> tasks = {};
  bool destroyed = false;
};
struct CUevent_st {
  int device = 0;
  std::shared_ptr<standin::Moment> latest = {};  // none before it was recorded
};

namespace {

std::list<CUstream_st>& streams() {
  static std::list<CUstream_st> all{CUstream_st{0}, CUstream_st{1}};  // default streams
  return all;
}
std::set<cudaEvent_t>& events() {
  static std::set<cudaEvent_t> all;
  return all;
}

/// Returns nullptr if it does not exist; only the current device's default stream needs a device.
cudaStream_t find(cudaStream_t stream) {
  const int current = standin::use_device();
  if (!stream) return &*std::next(streams().begin(), current);
  const auto found = std::ranges::find_if(streams(), [&](const auto& one) { return &one == stream; });
  if (found != streams().end() && !found->destroyed) return stream;
  standin::misuse("a stream that does not exist");
  return nullptr;
}
bool exists(cudaEvent_t event) {
  standin::use_device();
  if (events().contains(event)) return true;
  standin::misuse("an event that does not exist");
  return false;
}

void drive(CUstream_st& stream);

bool has_ended(const standin::Task& task) {
  if (!task.wait) return task.step();
  if (!task.wait->passed) drive(*task.wait->stream);
  return task.wait->passed;
}

/// Does the work in the stream and that for which it waits.
void drive(CUstream_st& stream) {
  while (!stream.tasks.empty() && has_ended(stream.tasks.front())) stream.tasks.pop_front();
}

/// Advances streams that nobody asks for, because other ranks may wait for them.
void time_passes() {
  static int questions = 0;
  if (++questions % 16 != 0) return;
  for (auto& stream : streams()) drive(stream);
}

}  // namespace

void standin::put(cudaStream_t stream, Task task) {
  if (auto* const found = find(stream)) found->tasks.push_back(std::move(task));
}
void standin::drain() {
  int ended = 0;  // messages, which arrays that outlive MPI do not need
  MPI_Finalized(&ended);
  if (ended) return;
  for (int turns = 0; turns < 100; ++turns)
    for (auto& stream : streams()) drive(stream);
}
int standin::device_of(cudaStream_t stream) {
  const auto* const found = find(stream);
  return found ? found->device : -1;
}

extern "C" {

void standin_put(cudaStream_t stream, int (*kernel)(void*), void* argument) {
  const standin::Lock lock;
  standin::put(stream, {[=] { return kernel(argument) != 0; }});
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const standin::Lock lock;
  *stream = &streams().emplace_back(CUstream_st{standin::use_device()});
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const standin::Lock lock;
  auto* const found = find(stream);
  if (!found) return cudaErrorInvalidResourceHandle;
  found->destroyed = true;  // its work is still done
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const standin::Lock lock;
  auto* const found = find(stream);
  if (!found) return cudaErrorInvalidResourceHandle;
  drive(*found);
  if (found->tasks.empty()) return cudaSuccess;
  time_passes();
  return cudaErrorNotReady;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  for (;;) {
    const auto code = cudaStreamQuery(stream);
    if (code != cudaErrorNotReady) return code;
    std::this_thread::yield();
  }
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const standin::Lock lock;
  if (!exists(event) || !find(stream)) return cudaErrorInvalidResourceHandle;
  if (event->latest) standin::put(stream, {{}, event->latest});
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  const standin::Lock lock;
  *event = new CUevent_st{standin::use_device()};
  events().insert(*event);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const standin::Lock lock;
  if (!exists(event)) return cudaErrorInvalidResourceHandle;
  events().erase(event);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const standin::Lock lock;
  auto* const found = find(stream);
  if (!exists(event) || !found) return cudaErrorInvalidResourceHandle;
  if (event->device != found->device) {
    standin::misuse("an event of one device in a stream of another");
    return cudaErrorInvalidResourceHandle;
  }
  event->latest = std::make_shared<standin::Moment>(standin::Moment{found});
  standin::put(found, {[moment = event->latest] { return moment->passed = true; }});
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const standin::Lock lock;
  if (!exists(event)) return cudaErrorInvalidResourceHandle;
  const auto& latest = event->latest;
  if (latest && !latest->passed) drive(*latest->stream);
  if (!latest || latest->passed) return cudaSuccess;
  time_passes();
  return cudaErrorNotReady;
}
}
