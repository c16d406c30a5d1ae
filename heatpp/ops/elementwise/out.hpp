#pragma once

#include <heatpp/ops/operands/operand.hpp>

namespace heatpp {

/// The array that a result is written to.
class Out {
 public:
  Out() = default;
  Out(DNDarray& array) : array_(&array) {}  // NOLINT: conversion intended
  [[nodiscard]] DNDarray* array() const { return array_; }

 private:
  DNDarray* array_ = nullptr;
};
/// Where the result of an elementwise function goes. The function throws as index_put, and TypeError if `out` has
/// another kind of dtype or `where` is not bool.
struct OutOptions {
  Out out = {};  ///< the result is written here in its dtype, and this is returned; it sets the layout and the shape
  std::optional<DNDarray> where = std::nullopt;  ///< bool: write only where true; else `out` stays, or the result is 0
};

}  // namespace heatpp
