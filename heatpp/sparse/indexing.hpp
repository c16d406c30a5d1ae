#pragma once

#include <heatpp/core/slice.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

/// The rows and columns that the slices select, as arrays' slices do, with steps above 0; rows stay on their ranks.
/// Collective: one allgather of 8 bytes. Throws ValueError for other steps.
[[nodiscard]] DCSRMatrix submatrix(const DCSRMatrix& a, const Slice& rows, const Slice& columns = {});
/// Row i of the result is row positions[i], in any order and often, counted from the end below 0: cut as the positions.
/// Of a cut matrix every row is fetched once for each rank that names it. Or the rows for which a vector of truth
/// values holds. Collective. Throws IndexError for positions out of range.
[[nodiscard]] DCSRMatrix take_rows(const DCSRMatrix& a, const DNDarray& positions);
/// The same for columns, which stay on the ranks of their rows: positions are gathered on every rank. Collective.
[[nodiscard]] DCSRMatrix take_columns(const DCSRMatrix& a, const DNDarray& positions);

/// One above the other, beside each other, or along the diagonal, cut evenly unless all are whole on every rank; hstack
/// keeps the cut of the first. Dtypes meet as those of arrays. Collective: one exchange of 16 bytes and a value for
/// each entry that moves. Throw ValueError for shapes that do not fit, and for no matrix.
[[nodiscard]] DCSRMatrix vstack(const std::vector<DCSRMatrix>& matrices);
[[nodiscard]] DCSRMatrix hstack(const std::vector<DCSRMatrix>& matrices);
[[nodiscard]] DCSRMatrix block_diag(const std::vector<DCSRMatrix>& matrices);

}  // namespace heatpp::sparse
