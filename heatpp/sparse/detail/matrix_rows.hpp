#pragma once

#include <heatpp/core/rows.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse::detail {

/// The rows of a sparse matrix.
class MatrixRows final : public RowSource {
 public:
  explicit MatrixRows(DCSRMatrix matrix) : matrix_(std::move(matrix)) {}
  [[nodiscard]] const DCSRMatrix& matrix() const { return matrix_; }
  /// Reads rows with all zeros.
  [[nodiscard]] at::Tensor read(std::int64_t first, std::int64_t count) const override;

 private:
  DCSRMatrix matrix_;
};

}  // namespace heatpp::sparse::detail
