#pragma once

#include <heatpp/linalg/solvers/detail/orthonormal.hpp>

#include <functional>

namespace heatpp::detail {

/// Lanczos' process for a Hermitian product: orthonormal vectors, one after the other, and what the product is in them.
class LanczosProcess {
 public:
  using Product = std::function<at::Tensor(const at::Tensor&)>;  ///< of this rank's part of a vector
  LanczosProcess(Product product, Orthonormal vectors, double epsilon);

  /// The next vector is this one, of any length but 0.
  void start(const at::Tensor& w);
  /// The next vector is any that is orthogonal to those so far.
  void start_anew();
  /// Takes the product of the next vector in, and finds the one after it: any other where nothing but rounding is left.
  void step();

  [[nodiscard]] std::int64_t size() const { return size_; }  ///< vectors whose products are in t
  [[nodiscard]] bool full() const { return size_ == vectors_.room(); }
  [[nodiscard]] bool complete() const { return size_ == vectors_.extent(); }  ///< whether nothing is orthogonal to all
  [[nodiscard]] const Orthonormal& vectors() const { return vectors_; }
  [[nodiscard]] at::Tensor t() const { return t_.narrow(0, 0, size_).narrow(1, 0, size_); }  ///< real, on the CPU

  /// Eigenvalues of t, rising, its vectors in columns, and how long the part of each outside of the space is.
  struct Ritz {
    at::Tensor values, vectors, residuals;
  };
  [[nodiscard]] Ritz ritz() const;
  /// Combinations of the vectors by the columns of `y`, in rows.
  [[nodiscard]] at::Tensor combined(const at::Tensor& y) const;
  /// Keeps these of the Ritz vectors and goes on with the next vector.
  void restart(const Ritz& ritz, const at::Tensor& kept);

 private:
  Product product_;
  Orthonormal vectors_;
  at::Tensor t_, coupling_;  // what the next vector has to do with each of those so far
  at::Tensor next_;          // undefined: any
  double epsilon_;
  std::int64_t size_ = 0;
};

}  // namespace heatpp::detail
