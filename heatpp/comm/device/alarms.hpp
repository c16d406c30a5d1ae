#pragma once

#include <heatpp/comm/communicator.hpp>
#include <mutex>

namespace heatpp::device {

/// Failures in operations that the ranks of a communicator begin in one order, told by messages of the host's: a rank
/// that fails leaves the others waiting for its part. Nothing waits.
class Alarms {
 public:
  /// What is told with one tag is one order of operations.
  Alarms(const Communicator& comm, int tag);

  /// The number of an operation that begins. All ranks count alike.
  std::int64_t begin();
  /// That of the latest.
  [[nodiscard]] std::int64_t latest() const;
  /// Tells that operations up to this one have ended here.
  void note_end_of(std::int64_t number);

  /// Tells all others, unless one has told before, that what has not ended here never will, and why.
  void raise(const std::string& failure);
  /// Why the operation of that number will never end, if that is known.
  [[nodiscard]] std::optional<std::string> failure_of(std::int64_t number);

 private:
  struct Message;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace heatpp::device
