#pragma once

#include <heatpp/comm/detail/progress/call_queue.hpp>
#include <heatpp/comm/device/alarms.hpp>
#include <heatpp/comm/device/identity.hpp>
#include <heatpp/comm/device/nccl/nccl.hpp>

namespace heatpp::device {

/// The resources of a communicator for memory on devices.
class Resources {
 public:
  /// Returns those of `comm`; collective at the first call. A communicator uses one device on each rank.
  static Resources& of(const Communicator& comm, const Memory& memory);

  explicit Resources(const Communicator& comm, int device);
  /// Returns the device of each rank; -1 if NCCL is missing.
  [[nodiscard]] const std::vector<std::int64_t>& devices() const { return devices_; }
  /// Returns the NCCL group. Collective at the first call, as messages(), but does not wait.
  [[nodiscard]] nccl::Group& nccl(const Communicator& comm);
  /// Returns a communicator whose message order no others disturb; its traffic counts with `comm`'s.
  [[nodiscard]] const Communicator& messages(const Communicator& comm);
  /// Returns the alarms of operations that use several groups of ranks.
  [[nodiscard]] Alarms& operations() { return operations_; }

 private:
  int device_;
  std::vector<std::int64_t> devices_;
  std::unique_ptr<nccl::Group> nccl_;
  std::optional<Communicator> messages_;
  Alarms operations_;
};

/// Returns the queue of this rank's NCCL collectives over any ranks, which must begin in one order everywhere.
[[nodiscard]] detail::CallQueue& call_queue();

}  // namespace heatpp::device
