#pragma once

#include <heatpp/ml/detail/nearest.hpp>

// Sums of absolute differences, in float64 from the differences themselves.
namespace heatpp::ml::detail {

/// The nearest of the (count, features) centres for each row, of several as near the first, and how far it is. Local.
template <class T>
void nearest_manhattan(const Piece<T>& piece, const double* centres, std::int64_t count, std::int32_t* labels,
                       double* distances);
/// The distance of each row to the centre that `labels` names. Local.
template <class T>
void manhattan_distances(const Piece<T>& piece, const double* centres, const std::int32_t* labels, double* distances);

/// As `labelled`, by these distances. Collective: one all-reduce of 16 bytes, none where rows are replicated. Throws
/// ValueError for rows that are not finite.
[[nodiscard]] Labelled labelled_manhattan(const char* op, const Rows& rows, const double* weights,
                                          const at::Tensor& centres);

}  // namespace heatpp::ml::detail
