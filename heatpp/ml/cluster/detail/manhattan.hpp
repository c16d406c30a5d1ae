#pragma once

#include <heatpp/ml/detail/nearest.hpp>

// Sums of absolute differences, in float64.
namespace heatpp::ml::detail {

/// Finds the nearest of the (count, features) centers for each row, the first one for ties, and its distance. Local.
template <class T>
void nearest_manhattan(const Piece<T>& piece, const double* centers, std::int64_t count, std::int32_t* labels,
                       double* distances);
/// Computes the distance of each row to the center that `labels` names. Local.
template <class T>
void manhattan_distances(const Piece<T>& piece, const double* centers, const std::int32_t* labels, double* distances);

/// Does `labelled` with Manhattan distances. Collective: one all-reduce of 16 bytes, none if rows are replicated.
/// Throws ValueError for rows that are not finite.
[[nodiscard]] Labelled labelled_manhattan(const char* op, const Rows& rows, const double* weights,
                                          const at::Tensor& centers);

}  // namespace heatpp::ml::detail
