#pragma once

#include <atomic>
#include <heatpp/comm/communicator.hpp>
#include <memory>

namespace heatpp::detail {

/// A collective under way on this rank.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Does what can be done without waiting. Whether the operation has ended.
  virtual bool advance() = 0;
  /// The same, but may sleep until a message has come.
  virtual bool advance_or_sleep() { return advance(); }
  /// Begins the same once more, after its end, without making anything; whether it can.
  virtual bool restart() { return false; }
  /// Lets the memory's stream, a device's, wait for the end, if only devices have to go on until then; whether they do.
  virtual bool hold(const Memory& /*memory*/) { return false; }
  /// Called when it has been waited for too long; throws if it knows better than others why that is.
  virtual void give_up() {}
  /// Whether messages may still read or write memory that the operation owns.
  [[nodiscard]] virtual bool in_flight() const { return false; }
};

/// One that needs nothing more.
class Done final : public Operation {
 public:
  bool advance() override { return true; }
};

/// How often a waiting rank looks before it gives up its core: once, where more ranks than cores were seen.
inline std::atomic<int> tries_before_yield{64};

/// Ends the operation, while all that were started make progress too.
void run(Operation& operation);
/// The same; of an operation that fails, memory that messages may still use is never used again.
void run(std::unique_ptr<Operation> operation);
/// Hands the operation to a request. It makes progress whenever this rank waits in a communication of heatpp.
[[nodiscard]] Request start(std::unique_ptr<Operation> operation);
/// Waits for all that were started, requests that outlive MPI among them.
void finish_all();
/// Ends the life of an operation that failed, unless it is in flight.
void abandon(std::unique_ptr<Operation> operation) noexcept;

/// `first`, then `last()`, which owns what `first` works on. A restart calls `again()` before that of `first`.
[[nodiscard]] std::unique_ptr<Operation> then(std::unique_ptr<Operation> first, std::function<void()> last,
                                              std::function<void()> again = {});
/// All of them at once.
[[nodiscard]] std::unique_ptr<Operation> together(std::vector<std::unique_ptr<Operation>> operations);

/// The MPI library's all-reduce.
[[nodiscard]] std::unique_ptr<Operation> native_allreduce(const Communicator& comm, Buffer data, ReduceOp op,
                                                          const char* call = "allreduce");

/// An all-reduce of `data` as `make` makes it; of 16-bit floats as float32 where partial results would be rounded.
using StartAllreduce = std::function<std::unique_ptr<Operation>(Buffer data)>;
[[nodiscard]] std::unique_ptr<Operation> rounded_once(Buffer data, ReduceOp op, int ranks, const StartAllreduce& make);

}  // namespace heatpp::detail
