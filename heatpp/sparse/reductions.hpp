#pragma once

#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

// Reductions over all elements; those without an entry are 0: of all (nullopt: a number, on every rank), of each column
// (axis 0: (columns,), cut evenly if the matrix is cut) or of each row (axis 1: (rows,), cut as the rows). Whole
// numbers and bool are summed as int64. Collective. They throw IndexError for other axes.

/// Sums columns as rmatmul of ones.
[[nodiscard]] DNDarray sum(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
/// Averages in the dtype of `mean` of arrays.
[[nodiscard]] DNDarray mean(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
/// Return the extremum; NaN wins. Columns use the transposed matrix. They throw ValueError if there is no element,
/// TypeError for complex numbers.
[[nodiscard]] DNDarray max(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
[[nodiscard]] DNDarray min(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
/// Return the place of the first largest, or smallest, element, int64: in each column or row, or, for all, as the
/// number row * columns + column. NaN wins. Columns use the transposed matrix. They throw as max.
[[nodiscard]] DNDarray argmax(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
[[nodiscard]] DNDarray argmin(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
/// Returns the number of entries that are not 0.
[[nodiscard]] std::int64_t count_nonzero(const DCSRMatrix& a);
/// Returns the root of the sum of the squares.
[[nodiscard]] double norm(const DCSRMatrix& a);

}  // namespace heatpp::sparse
