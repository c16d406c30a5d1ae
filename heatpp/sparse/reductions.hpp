#pragma once

#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

// Over all elements, those without an entry being 0: of all (nullopt: a number, on every rank), of each column (axis 0:
// (columns,), cut evenly where the matrix is cut) or of each row (axis 1: (rows,), cut as the rows). Whole numbers and
// bool are summed as int64. Collective. Throw IndexError for other axes.

/// Of columns as rmatmul of ones.
[[nodiscard]] DNDarray sum(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
/// In the dtype of `mean` of arrays.
[[nodiscard]] DNDarray mean(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
/// NaN wins. Of columns through the transposed matrix. Throw ValueError where there is no element, TypeError for
/// complex numbers.
[[nodiscard]] DNDarray max(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
[[nodiscard]] DNDarray min(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
/// Where the first of the largest, or smallest, elements is, int64: in each column, or row, or, of all, as the number
/// row * columns + column. NaN wins. Of columns through the transposed matrix. Throw as max.
[[nodiscard]] DNDarray argmax(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
[[nodiscard]] DNDarray argmin(const DCSRMatrix& a, std::optional<int> axis = std::nullopt);
/// The number of entries that are not 0.
[[nodiscard]] std::int64_t count_nonzero(const DCSRMatrix& a);
/// The root of the sum of the squares.
[[nodiscard]] double norm(const DCSRMatrix& a);

}  // namespace heatpp::sparse
