#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/estimator.hpp>

namespace heatpp::ml::detail {

/// The name "Class.method", as in errors. It must outlive its pointers and views.
class Method {
 public:
  Method(const char* kind, const char* what) : name_(heatpp::detail::formatted("{}.{}", kind, what)) {}
  operator const char*() const { return name_.c_str(); }  // NOLINT: conversion intended
  operator std::string_view() const { return name_; }     // NOLINT: conversion intended

 private:
  std::string name_;
};

/// Returns the fitted state that an optional or a pointer holds. Throws NotFittedError if it is empty.
template <class State>
[[nodiscard]] const auto& fitted(const char* op, const State& state) {
  if (!state) throw NotFittedError(heatpp::detail::formatted("[{}] got no data yet; expected a call of fit", op));
  return *state;
}

}  // namespace heatpp::ml::detail
