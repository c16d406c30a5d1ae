#pragma once

#include <exception>

namespace heatpp::io::detail {

/// Keeps the first error of several steps. All steps run, because other ranks take part in them.
class FirstError {
 public:
  template <class Step>
  void run(Step step) {
    try {
      step();
    } catch (const std::exception&) {
      if (!first_) first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace heatpp::io::detail
