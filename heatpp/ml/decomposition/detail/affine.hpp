#pragma once

#include <heatpp/ml/detail/column_moments.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>

namespace heatpp::ml::detail {

/// Returns (rows - from) * matrix + to, computed in float64 piece by piece. Local for arrays, as `mapped`.
[[nodiscard]] inline DNDarray moved(const Rows& x, const at::Tensor& from, const at::Tensor& matrix,
                                    const at::Tensor& to) {
  const auto columns = matrix.contiguous();
  const auto shift = sparse_rows(x) ? to - at::matmul(from.expand({columns.size(0)}), columns) : to;
  return mapped_stored(x, columns.size(1),
                       [&](const RowBlock& block) { return block.about(from).times(columns).add_(shift); });
}
/// Returns fitted numbers in float64.
[[nodiscard]] inline at::Tensor wide(const DNDarray& x) { return x.larray().to(at::kDouble); }
/// Returns one of the three moments for all columns.
[[nodiscard]] inline at::Tensor of_columns(const std::vector<Moments>& columns, double Moments::*what) {
  auto numbers = at::empty({std::ssize(columns)}, at::kDouble);
  for (std::size_t j = 0; j < columns.size(); ++j) numbers.data_ptr<double>()[j] = columns[j].*what;
  return numbers;
}

}  // namespace heatpp::ml::detail
