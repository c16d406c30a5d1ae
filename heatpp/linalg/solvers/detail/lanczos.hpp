#pragma once

#include <heatpp/linalg/solvers/detail/orthonormal.hpp>

#include <functional>

namespace heatpp::detail {

/// Lanczos' process for a Hermitian product: orthonormal vectors, one after another, and the product in their basis.
class LanczosProcess {
 public:
  using Product = std::function<at::Tensor(const at::Tensor&)>;  ///< for this rank's part of a vector
  LanczosProcess(Product product, Orthonormal vectors, double epsilon);

  /// Makes w, which is not 0, the next vector.
  void start(const at::Tensor& w);
  /// Makes any vector orthogonal to those so far the next one.
  void start_anew();
  /// Adds the product of the next vector, and finds the one after it: any other if only rounding is left.
  void step();

  [[nodiscard]] std::int64_t size() const { return size_; }  ///< vectors whose products are in t
  [[nodiscard]] bool full() const { return size_ == vectors_.room(); }
  [[nodiscard]] bool complete() const { return size_ == vectors_.extent(); }  ///< no vector is orthogonal to all
  [[nodiscard]] const Orthonormal& vectors() const { return vectors_; }
  [[nodiscard]] at::Tensor t() const { return t_.narrow(0, 0, size_).narrow(1, 0, size_); }  ///< real, on the CPU

  /// Eigenvalues of t, rising, its vectors in columns, and the length of each vector's part outside the space.
  struct Ritz {
    at::Tensor values, vectors, residuals;
  };
  [[nodiscard]] Ritz ritz() const;
  /// Returns combinations of the vectors by the columns of `y`, in rows.
  [[nodiscard]] at::Tensor combined(const at::Tensor& y) const;
  /// Keeps these Ritz vectors and continues with the next vector.
  void restart(const Ritz& ritz, const at::Tensor& kept);

 private:
  Product product_;
  Orthonormal vectors_;
  at::Tensor t_, coupling_;  // products of the next vector with each of those so far
  at::Tensor next_;          // undefined: any vector
  double epsilon_;
  std::int64_t size_ = 0;
};

}  // namespace heatpp::detail
