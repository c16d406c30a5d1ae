#pragma once

#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/neighbors/detail/search.hpp>

namespace heatpp::ml::detail {

/// Returns rows of a sparse matrix of float64 of length 1, except for rows of zeros. Collective for dense rows that are
/// split: an allgather of 8 bytes.
[[nodiscard]] sparse::DCSRMatrix unit_rows(const Rows& rows);

/// Does Search for pairs of a fitted and an asking row by products of entries; distances are twice 1 - x.y. Collective:
/// the entries of the fitted rows of all ranks but one go around, 24 bytes each, an all-gather of 8 bytes a rank and an
/// all-reduce of 8; none if all ranks hold the fitted rows.
void search_entries(const sparse::DCSRMatrix& asking, const sparse::DCSRMatrix& fitted, const Search& search);

}  // namespace heatpp::ml::detail
