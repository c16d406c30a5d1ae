#pragma once

#include <heatpp/core/detail/fused/pending.hpp>

/// Sets whether functions give pending blocks, as long as it lives.
class Fusing {
 public:
  explicit Fusing(bool enabled) : before_(heatpp::detail::fused::set_enabled(enabled)) {}
  ~Fusing() { heatpp::detail::fused::set_enabled(before_); }
  Fusing(const Fusing&) = delete;
  Fusing& operator=(const Fusing&) = delete;

 private:
  bool before_;
};
