#pragma once

#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/request.hpp>

namespace heatpp::detail {

/// A request whose operation is started again and again.
class Persistent {
 public:
  Persistent();
  Persistent(Persistent&&) noexcept;
  Persistent& operator=(Persistent&&) = delete;
  /// Waits for an operation under way.
  ~Persistent();

  [[nodiscard]] bool under_way() const { return under_way_; }
  /// Starts the operation that `make` makes.
  void begin(const MakeOperation& make);
  /// Starts the latest operation again, or a new one by `make` if there is none or it cannot restart.
  void restart(const MakeOperation& make);
  [[nodiscard]] bool test();
  void wait();

 private:
  void add();

  std::unique_ptr<Request::Impl> request_;
  bool under_way_ = false;
};

}  // namespace heatpp::detail
