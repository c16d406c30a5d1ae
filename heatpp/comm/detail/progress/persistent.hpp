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
  /// Waits for what is under way.
  ~Persistent();

  [[nodiscard]] bool under_way() const { return under_way_; }
  /// Starts what `make` makes.
  void begin(const MakeOperation& make);
  /// Starts the latest operation once more, or what `make` makes where there is none or it cannot.
  void restart(const MakeOperation& make);
  [[nodiscard]] bool test();
  void wait();

 private:
  void add();

  std::unique_ptr<Request::Impl> request_;
  bool under_way_ = false;
};

}  // namespace heatpp::detail
