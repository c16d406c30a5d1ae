#pragma once

#include <heatpp/core/dndarray.hpp>

#include <functional>
#include <optional>

namespace heatpp::linalg {

/// How vectors of an operator's rows are cut, over which ranks, and where they are.
struct VectorCut {
  Layout layout;  ///< of (rows,)
  Communicator comm;
  Device device = cpu;
};

/// What iterative methods need of a matrix: its shape and its product with a vector. An array converts to it, a sparse
/// matrix too, and a host's matrix is a function of its own. Products give vectors of
/// any layout, and are called by all ranks alike.
struct LinearOperator {
  using Apply = std::function<DNDarray(const DNDarray&)>;
  Shape shape;
  Apply apply;               ///< the product with a vector (columns,)
  Apply apply_adjoint = {};  ///< of the conjugate transpose with a vector (rows,), for methods that need it
  std::optional<Dtype> dtype = std::nullopt;    ///< of the matrix, with which a vector's meets; nullopt: the vector's
  std::optional<VectorCut> cut = std::nullopt;  ///< for methods that no vector is given; nullopt: evenly over all ranks
  bool of_matrices = false;                     ///< whether the products are those of matrices (columns, k), too

  LinearOperator(Shape shape_, Apply apply_, Apply apply_adjoint_ = {}, std::optional<Dtype> dtype_ = std::nullopt)
      : shape(std::move(shape_)), apply(std::move(apply_)), apply_adjoint(std::move(apply_adjoint_)), dtype(dtype_) {}
  /// The products of a matrix. Throws ValueError for other numbers of axes.
  LinearOperator(const DNDarray& matrix);  // NOLINT: conversion intended
};

}  // namespace heatpp::linalg
