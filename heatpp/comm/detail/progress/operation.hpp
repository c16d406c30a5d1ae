#pragma once

#include <atomic>
#include <heatpp/comm/communicator.hpp>
#include <memory>

namespace heatpp::detail {

/// A collective under way on this rank.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Does what can be done without waiting. Returns whether the operation has ended.
  virtual bool advance() = 0;
  /// Advances, but may sleep until a message has come.
  virtual bool advance_or_sleep() { return advance(); }
  /// Begins the operation again after its end without making anything. Returns whether it can.
  virtual bool restart() { return false; }
  /// Lets the device stream wait for the end, if only devices are left to work. Returns whether it does.
  virtual bool hold(const Memory& /*memory*/) { return false; }
  /// Called after too long a wait. Throws if this operation knows the reason better than others do.
  virtual void give_up() {}
  /// Whether messages may still read or write memory that the operation owns.
  [[nodiscard]] virtual bool in_flight() const { return false; }
  /// Called if a rank has ended, before memory of the caller may be freed: ends the messages under way.
  virtual void end_messages() noexcept {}
};

/// An operation that has already ended.
class Done final : public Operation {
 public:
  bool advance() override { return true; }
};

/// How often a waiting rank looks before it yields its core: once if there are more ranks than cores.
inline std::atomic<int> tries_before_yield{64};

/// Runs the operation to its end. All operations that were started make progress, too.
void run(Operation& operation);
/// Runs the operation. If it fails, memory that messages may still use is never used again.
void run(std::unique_ptr<Operation> operation);
/// Hands the operation to a request. It makes progress whenever this rank waits in a communication of heatpp.
[[nodiscard]] Request start(std::unique_ptr<Operation> operation);
/// Waits for all operations that were started, also for requests that outlive MPI.
void finish_all();
/// Destroys an operation that failed by `error`, unless it is in flight.
void abandon(std::unique_ptr<Operation> operation, const std::exception_ptr& error) noexcept;

/// Runs `first`, then `last()`, which owns what `first` works on. A restart calls `again()` before `first` restarts.
[[nodiscard]] std::unique_ptr<Operation> then(std::unique_ptr<Operation> first, std::function<void()> last,
                                              std::function<void()> again = {});
/// Runs all operations at once.
[[nodiscard]] std::unique_ptr<Operation> together(std::vector<std::unique_ptr<Operation>> operations);

/// The MPI library's all-reduce.
[[nodiscard]] std::unique_ptr<Operation> native_allreduce(const Communicator& comm, Buffer data, ReduceOp op,
                                                          const char* call = "allreduce");

/// Starts an all-reduce of `data` by `make`. 16-bit floats go as float32 if partial results would be rounded.
using StartAllreduce = std::function<std::unique_ptr<Operation>(Buffer data)>;
[[nodiscard]] std::unique_ptr<Operation> rounded_once(Buffer data, ReduceOp op, int ranks, const StartAllreduce& make);

}  // namespace heatpp::detail
