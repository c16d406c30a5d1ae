#pragma once

#include <heatpp/comm/communicator.hpp>
#include <mutex>

namespace heatpp::device {

/// Tells failures in operations that the ranks of a communicator begin in one order, by messages of the host: if a rank
/// fails, the others would wait for its part. Nothing here waits.
class Alarms {
 public:
  /// Operations that are told with one tag have one order.
  Alarms(const Communicator& comm, int tag);

  /// Returns the number of an operation that begins. All ranks count alike.
  std::int64_t begin();
  /// Returns the number of the latest operation.
  [[nodiscard]] std::int64_t latest() const;
  /// Notes that operations up to this one have ended here.
  void note_end_of(std::int64_t number);

  /// Tells all others that operations under way here will never end, and why, unless a rank has done so before.
  void raise(const std::string& failure);
  /// Returns why the operation of that number will never end, if that is known.
  [[nodiscard]] std::optional<std::string> failure_of(std::int64_t number);

 private:
  struct Message;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace heatpp::device
