#pragma once

#include <heatpp/core/dndarray.hpp>

#include <functional>
#include <optional>

namespace heatpp::linalg {

/// How vectors of an operator's rows are cut, over which ranks, and on which device.
struct VectorCut {
  Layout layout;  ///< of (rows,)
  Communicator comm;
  Device device = cpu;
};

/// What iterative methods need of a matrix: its shape and its product with a vector. An array or a sparse matrix
/// converts to it; a host's matrix gives a function of its own. Products give vectors of any layout, and all ranks call
/// them alike.
struct LinearOperator {
  using Apply = std::function<DNDarray(const DNDarray&)>;
  Shape shape;
  Apply apply;               ///< the product with a vector (columns,)
  Apply apply_adjoint = {};  ///< product of the conjugate transpose with a vector (rows,), for methods that need it
  std::optional<Dtype> dtype = std::nullopt;    ///< of the matrix, promoted with a vector's; nullopt: the vector's
  std::optional<VectorCut> cut = std::nullopt;  ///< for methods without a given vector; nullopt: evenly over all ranks
  bool of_matrices = false;                     ///< whether products with matrices (columns, k) work, too

  LinearOperator(Shape shape_, Apply apply_, Apply apply_adjoint_ = {}, std::optional<Dtype> dtype_ = std::nullopt)
      : shape(std::move(shape_)), apply(std::move(apply_)), apply_adjoint(std::move(apply_adjoint_)), dtype(dtype_) {}
  /// Makes the products of a matrix. Throws ValueError for other numbers of axes.
  LinearOperator(const DNDarray& matrix);  // NOLINT: conversion intended
};

}  // namespace heatpp::linalg
