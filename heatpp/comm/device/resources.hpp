#pragma once

#include <heatpp/comm/detail/progress/call_queue.hpp>
#include <heatpp/comm/device/alarms.hpp>
#include <heatpp/comm/device/identity.hpp>
#include <heatpp/comm/device/nccl/nccl.hpp>

namespace heatpp::device {

/// What a communicator has for memory on devices.
class Resources {
 public:
  /// That of `comm`; collective when it is first asked for. A communicator keeps to one device on each rank.
  static Resources& of(const Communicator& comm, const Memory& memory);

  explicit Resources(const Communicator& comm, int device);
  /// The device of each rank; -1 where NCCL is missing.
  [[nodiscard]] const std::vector<std::int64_t>& devices() const { return devices_; }
  /// Collective when it is first asked for, as messages(), but then without waiting.
  [[nodiscard]] nccl::Group& nccl(const Communicator& comm);
  /// A communicator for messages whose order no others disturb, which counts traffic with `comm`'s.
  [[nodiscard]] const Communicator& messages(const Communicator& comm);
  /// Of operations that go through several groups of ranks.
  [[nodiscard]] Alarms& operations() { return operations_; }

 private:
  int device_;
  std::vector<std::int64_t> devices_;
  std::unique_ptr<nccl::Group> nccl_;
  std::optional<Communicator> messages_;
  Alarms operations_;
};

/// NCCL's collectives of this rank, over whatever ranks: they have to begin in one order everywhere.
[[nodiscard]] detail::CallQueue& call_queue();

}  // namespace heatpp::device
