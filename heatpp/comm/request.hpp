#pragma once

#include <memory>

namespace heatpp {

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

 private:
  std::unique_ptr<Impl> impl_;
};

/// Makes all operations under way on this rank progress; whether none is left. Local. A long computation that is to
/// overlap with communication calls it now and then.
bool progress();

}  // namespace heatpp
