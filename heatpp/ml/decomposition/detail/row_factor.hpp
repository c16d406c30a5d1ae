#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// Fewer rows than were given, of the same products of columns or nearly so.
using Shorten = std::function<at::Tensor(const at::Tensor& factor)>;
/// At most as many rows as columns, of the same products of columns: the triangle of Householder's reflections.
[[nodiscard]] at::Tensor triangle_of(const at::Tensor& rows);

/// At most min(samples, features) rows, on every rank, whose products of columns are those of all rows minus `centre`,
/// in float64: as accurate as the rows, of which products would lose half the digits (TSQR: Demmel et al. 2012). Each
/// rank's rows are decomposed some at a time, without a copy of all; what they leave, at most features^2 numbers, is
/// gathered, shortened before if asked. Collective: an all-gather of 8 bytes and one of these numbers, none where rows
/// are replicated. What one rank's rows throw all throw.
[[nodiscard]] at::Tensor row_factor(const Rows& rows, const at::Tensor& centre, const Shorten& shorten = {});

/// The falling singular values of a factor and their right vectors, as rows.
struct RightVectors {
  at::Tensor values, vectors;
};
[[nodiscard]] RightVectors right_vectors(const at::Tensor& factor);

/// Rows turned so that the entry that is largest in size is positive.
[[nodiscard]] at::Tensor with_signs(const at::Tensor& rows);

}  // namespace heatpp::ml::detail
