#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace heatpp {

struct Memory;

/// An operation under way. It makes progress while this rank waits in any communication of heatpp, in test() and in
/// progress(). Waiting throws CommError if the operation failed. The destructor of a request waits.
class Request {
 public:
  struct Impl;
  Request();
  explicit Request(std::unique_ptr<Impl> impl);
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  ~Request();

  /// Whether the operation has ended. Makes it progress.
  [[nodiscard]] bool test();
  void wait();
  /// Lets the device stream of the memory wait for the result: what is put into it from now on runs afterwards. Returns
  /// when the host has nothing left to do: once NCCL has taken the calls, or the last copy has been started if data go
  /// through the host; for host memory at the end. Throws as wait(). The data still belong to the request.
  void wait_on(const Memory& memory);

 private:
  friend std::optional<std::size_t> wait_any(std::span<Request> requests);
  std::unique_ptr<Impl> impl_;
};

/// Waits for all requests, then throws the error of the first that failed.
void wait_all(std::span<Request> requests);
/// Waits until one of the requests has ended, ends it, and returns its number; nothing if all have been waited for.
/// Throws if that request failed.
[[nodiscard]] std::optional<std::size_t> wait_any(std::span<Request> requests);

/// Makes all operations under way on this rank progress and returns whether none is left. Local. A long computation
/// that overlaps with communication calls it now and then.
bool progress();

}  // namespace heatpp
