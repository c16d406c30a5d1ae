#pragma once

#include <memory>

namespace heatpp {

/// An operation under way. Waiting throws CommError where the operation failed; a request that is dropped waits.
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

}  // namespace heatpp
