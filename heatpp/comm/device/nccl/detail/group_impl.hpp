#pragma once

#include <nccl.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/device/alarms.hpp>
#include <heatpp/comm/device/cuda/library.hpp>
#include <heatpp/comm/device/nccl/nccl.hpp>
#include <heatpp/comm/device/nccl/peers.hpp>
#include <mutex>

#define NCCL(name) HEATPP_FROM(heatpp::nccl::library(), name)

namespace heatpp::nccl {

[[nodiscard]] const device::Library& library();

/// Whether a call did not fail. Calls of non-blocking communicators continue after they return.
[[nodiscard]] inline bool is_fine(ncclResult_t code) { return code == ncclSuccess || code == ncclInProgress; }
/// Returns the state of the communicator's latest call.
[[nodiscard]] ncclResult_t state_of(ncclComm_t comm);

/// Releases a communicator that other ranks may still need. It ends when they release theirs. This rank looks now and
/// then whether they have, because no rank should wait for another here.
void leave(int device, ncclComm_t comm);
void look_after_those_left();

struct Group::Impl {
  Impl(const Communicator& comm_, int device_)
      : of(comm_.impl()), device(device_), rank(comm_.rank()), ranks(comm_.size()), peers(comm_), calls(comm_, 11) {}

  Communicator::Impl& of;  // holds the group
  int device, rank, ranks;
  device::Peers peers;
  device::Alarms calls;
  ncclComm_t comm = nullptr;
  bool made = false, given_up = false;
  std::mutex mutex = {};  // different threads may advance operations of a group

  void offer();
  void begin(const device::Peers::Offer& offer);
  [[nodiscard]] bool make();
  template <class F>
  void call(const char* name, F f) {
    const std::lock_guard lock(mutex);
    expect_use();
    const cuda::OnDevice guard(device);
    calls.begin();
    check(name, f(comm));
  }

  void expect_use() const;
  /// Throws if NCCL failed here, or if another rank's failure keeps the first `needed` calls from ending.
  ncclResult_t look(std::int64_t needed);
  void check(const char* call, ncclResult_t code);
  [[nodiscard]] std::string failure(const char* call, ncclResult_t code) const;
  [[noreturn]] void fail(const std::string& failure);
  void give_up();
};

}  // namespace heatpp::nccl
