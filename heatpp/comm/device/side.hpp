#pragma once

#include <heatpp/comm/detail/progress/turns.hpp>
#include <heatpp/comm/device/nccl.hpp>

namespace heatpp::device {

/// A device among those of all machines: the name of its host, hashed, and its bus address. -1 is none.
[[nodiscard]] std::int64_t device_id(int device);
[[nodiscard]] std::string device_text(std::int64_t id);
/// The ranks' current devices, where programs use CUDA by now; empty if none does. Collective.
[[nodiscard]] std::vector<std::int64_t> find_devices(const Communicator& comm);
/// Whether each of these ranks has a device of its own that NCCL can use.
[[nodiscard]] bool apart(std::span<const std::int64_t> devices);

/// What a communicator has for memory on devices.
class Side {
 public:
  /// That of `comm`; collective when it is first asked for. A communicator keeps to one device on each rank.
  static Side& of(const Communicator& comm, const Memory& memory);

  explicit Side(const Communicator& comm, int device);
  /// The device of each rank; -1 where NCCL is missing.
  [[nodiscard]] const std::vector<std::int64_t>& devices() const { return devices_; }
  /// Collective when it is first asked for, as messages().
  [[nodiscard]] nccl::Group& nccl(const Communicator& comm);
  /// A communicator for messages whose order no others disturb, which counts traffic with `comm`'s.
  [[nodiscard]] const Communicator& messages(const Communicator& comm);

 private:
  int device_;
  std::vector<std::int64_t> devices_;
  std::unique_ptr<nccl::Group> nccl_;
  std::optional<Communicator> messages_;
};

/// NCCL's collectives of this rank, over whatever ranks: they have to begin in one order everywhere.
[[nodiscard]] detail::Turns& turns();

}  // namespace heatpp::device
