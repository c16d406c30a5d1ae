#pragma once

#include <heatpp/core/slice.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

/// Selects rows and columns by slices, as for arrays, with steps above 0; rows stay on their ranks. Collective: one
/// allgather of 8 bytes. Throws ValueError for other steps.
[[nodiscard]] DCSRMatrix submatrix(const DCSRMatrix& a, const Slice& rows, const Slice& columns = {});
/// Makes row i of row positions[i], in any order and repeated, negative ones counted from the end: cut as the
/// positions. Every row of a cut matrix is fetched once for each rank that names it. Or takes the rows for which a
/// vector of truth values is true. Collective. Throws IndexError for positions out of range.
[[nodiscard]] DCSRMatrix take_rows(const DCSRMatrix& a, const DNDarray& positions);
/// Takes columns, which stay on the ranks of their rows: positions are gathered on every rank. Collective.
[[nodiscard]] DCSRMatrix take_columns(const DCSRMatrix& a, const DNDarray& positions);

/// Join matrices vertically, horizontally, or along the diagonal, cut evenly unless all are whole on every rank; hstack
/// keeps the cut of the first. Dtypes are promoted as those of arrays. Collective: one exchange of 16 bytes and a value
/// for each entry that moves. They throw ValueError for shapes that do not fit, and for no matrix.
[[nodiscard]] DCSRMatrix vstack(const std::vector<DCSRMatrix>& matrices);
[[nodiscard]] DCSRMatrix hstack(const std::vector<DCSRMatrix>& matrices);
[[nodiscard]] DCSRMatrix block_diag(const std::vector<DCSRMatrix>& matrices);

}  // namespace heatpp::sparse
