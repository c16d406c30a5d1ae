#pragma once

#include "../core/bricks.hpp"
#include "../core/grids.hpp"

#include <heatpp/ops/joining/join.hpp>

#include <functional>

/// A function whose results do not depend on the layout of its array, up to rounding.
struct Function {
  const char* name;
  std::function<ht::Arrays(const ht::DNDarray&)> of;
};

/// Functions of an array of shape (5, 3, 4) of different real numbers that take a grid as it is.
std::vector<Function> native_functions();
/// Functions of such an array that recut a grid.
std::vector<Function> recutting_functions();
/// Functions of a symmetric, positive definite matrix of shape (7, 7).
std::vector<Function> matrix_functions();
