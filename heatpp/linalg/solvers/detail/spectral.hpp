#pragma once

#include <heatpp/linalg/solvers/detail/orthonormal.hpp>
#include <heatpp/linalg/solvers/eigensolvers.hpp>

namespace heatpp::detail {

/// Vectors of an operator's rows for methods that compute on the CPU, in float64 or complex128 for any dtype of
/// products.
class WideVectors {
 public:
  /// Cuts as `like` is, as the operator says, or evenly over all ranks. Throws ValueError for another length.
  WideVectors(const char* op, const linalg::LinearOperator& a, const std::optional<DNDarray>& like);
  WideVectors(Layout layout, const WideVectors& other);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] Dtype dtype() const { return dtype_; }  ///< dtype of products and results
  [[nodiscard]] at::TensorOptions type() const;         ///< type of the vectors
  [[nodiscard]] Layout columns(std::int64_t k) const { return layout_.with({layout_.shape()[0], k}, layout_.split()); }

  /// Returns this rank's part of a vector, or of a matrix of columns.
  [[nodiscard]] at::Tensor local(const DNDarray& x) const;
  [[nodiscard]] DNDarray array(const at::Tensor& x) const;
  [[nodiscard]] DNDarray array_of_rows(const at::Tensor& x) const;  ///< (k, n) of this rank's part of k vectors
  /// Returns the products with a vector of `from`, or with each of the columns of a matrix.
  [[nodiscard]] at::Tensor product(const linalg::LinearOperator::Apply& apply, const WideVectors& from,
                                   const at::Tensor& x) const;
  [[nodiscard]] at::Tensor products(const linalg::LinearOperator& a, const WideVectors& from,
                                    const at::Tensor& x) const;
  [[nodiscard]] at::Tensor products(const linalg::LinearOperator& a, const at::Tensor& x) const {
    return products(a, *this, x);
  }
  /// Returns the lengths of the columns, (k,) on the CPU: one all-reduce of k numbers.
  [[nodiscard]] at::Tensor lengths(const char* op, const at::Tensor& columns) const;
  /// Returns real numbers on every rank in the dtype of results.
  [[nodiscard]] DNDarray everywhere(const at::Tensor& numbers) const;

 private:
  Layout layout_;
  Communicator comm_;
  at::Device device_;  ///< device of arrays
  Dtype dtype_;
};

/// Throws ValueError unless the operator is square and 1 <= k <= n.
void check_eigenproblem(const char* op, const linalg::LinearOperator& a, std::int64_t k);

/// Makes the pairs of these values, float64, and columns, with residuals.
[[nodiscard]] linalg::Eigenpairs eigenpairs(const char* op, const linalg::LinearOperator& a, const WideVectors& vectors,
                                            const at::Tensor& values, const at::Tensor& columns);

/// Logs a warning unless these have converged.
void warn_unless_converged(const char* op, const linalg::Eigenpairs& found);

}  // namespace heatpp::detail
