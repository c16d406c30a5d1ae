#pragma once

#include <heatpp/ops/operands/detail/around.hpp>

namespace heatpp::detail {

/// Number, mean, and sums of the 2nd to 4th powers of the deviations from the mean, for some elements.
struct CentralSums {
  double n = 0, mean = 0;
  double low = 0;  ///< low part of the mean, which matters if deviations are small beside it
  double m2 = 0, m3 = 0, m4 = 0;
};

/// Replaces `b` by the sums of the elements of both.
void merge_central_sums(const CentralSums& a, CentralSums& b);

/// Computes the sums over the middle axis of a block of real numbers, for each of the others, up to the power `order`
/// (1, 2 or 4). Reads the block from memory once.
template <class T>
void central_sums(const T* data, const Around& extents, int order, CentralSums* out);

/// Rows of `width` neighbors, `stride` elements apart.
struct SpacedRows {
  std::int64_t rows, stride, width;
};
/// Computes the sums of all elements of such rows.
template <class T>
void central_sums_of_rows(const T* data, const SpacedRows& spaced, int order, CentralSums* out);

/// Computes sums over the rows of a C-ordered (lines, n) array, for the elements where `mask` is true.
template <class T>
void central_sums_where(const T* data, const bool* mask, std::int64_t lines, std::int64_t n, int order,
                        CentralSums* out);

}  // namespace heatpp::detail
