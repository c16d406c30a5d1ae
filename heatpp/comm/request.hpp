#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace heatpp {

struct Memory;

/// An operation under way. It makes progress while this rank waits in any communication of heatpp, in test() and in
/// progress(). Waiting throws CommError where the operation failed; a request that is dropped waits.
class Request {
 public:
  struct Impl;
  Request();
  explicit Request(std::unique_ptr<Impl> impl);
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  ~Request();

  /// Whether the operation has ended; also makes it progress.
  [[nodiscard]] bool test();
  void wait();
  /// Lets what is put into the memory's stream, a device's, from now on wait for the result. Returns when the host has
  /// nothing left to do for it: once NCCL has taken the calls, where data go through the host when the last copy has
  /// been started, and for host memory at the end. Throws as wait(). The data belong to the request as before.
  void wait_on(const Memory& memory);

 private:
  friend std::optional<std::size_t> wait_any(std::span<Request> requests);
  std::unique_ptr<Impl> impl_;
};

/// Waits for all of them; then throws the error of the first that failed, if any did.
void wait_all(std::span<Request> requests);
/// Waits until one of them has ended, ends it, and returns its number; nothing where all have been waited for. Throws
/// where that one failed.
[[nodiscard]] std::optional<std::size_t> wait_any(std::span<Request> requests);

/// Makes all operations under way on this rank progress; whether none is left. Local. A long computation that is to
/// overlap with communication calls it now and then.
bool progress();

}  // namespace heatpp
