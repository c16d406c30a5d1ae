#pragma once

#include <heatpp/ml/detail/column_moments.hpp>

namespace heatpp::ml::detail {

/// (rows - from) * matrix + to, a piece at a time in float64. Local for arrays, as `mapped`.
[[nodiscard]] inline DNDarray moved(const Rows& x, const at::Tensor& from, const at::Tensor& matrix,
                                    const at::Tensor& to) {
  return mapped(x, matrix.size(1),
                [&](const at::Tensor& block) { return at::addmm(to, block.to(at::kDouble) - from, matrix); });
}
/// What is learnt, in float64.
[[nodiscard]] inline at::Tensor wide(const DNDarray& x) { return x.larray().to(at::kDouble); }
/// One of the three numbers of each column.
[[nodiscard]] inline at::Tensor of_columns(const std::vector<Moments>& columns, double Moments::*what) {
  auto numbers = at::empty({std::ssize(columns)}, at::kDouble);
  for (std::size_t j = 0; j < columns.size(); ++j) numbers.data_ptr<double>()[j] = columns[j].*what;
  return numbers;
}

}  // namespace heatpp::ml::detail
