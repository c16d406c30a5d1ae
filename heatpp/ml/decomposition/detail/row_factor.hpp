#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// Reduces the number of rows, with equal or nearly equal products of columns.
using Shorten = std::function<at::Tensor(const at::Tensor& factor)>;
/// Returns at most as many rows as columns, with equal products of columns: R of Householder's decomposition.
[[nodiscard]] at::Tensor triangle_of(const at::Tensor& rows);

/// Returns at most min(samples, features) rows, on every rank, whose products of columns are those of all rows minus
/// `center`, in float64. They are as accurate as the rows; products would lose half the digits (TSQR: Demmel et al.
/// 2012). Each rank decomposes its rows block by block, without a copy; the results, at most features^2 numbers, are
/// shortened if asked and gathered. Collective: an all-gather of 8 bytes and one of these numbers, none if rows are
/// replicated. An error on one rank is thrown on all.
[[nodiscard]] at::Tensor row_factor(const Rows& rows, const at::Tensor& center, const Shorten& shorten = {});

/// The singular values of a factor in decreasing order, and their right vectors as rows.
struct RightVectors {
  at::Tensor values, vectors;
};
[[nodiscard]] RightVectors right_vectors(const at::Tensor& factor);

/// Returns rows with signs such that the entry of largest absolute value is positive.
[[nodiscard]] at::Tensor with_signs(const at::Tensor& rows);

}  // namespace heatpp::ml::detail
