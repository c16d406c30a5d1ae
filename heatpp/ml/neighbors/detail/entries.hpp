#pragma once

#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/neighbors/detail/search.hpp>

namespace heatpp::ml::detail {

/// The rows as those of a sparse matrix of float64, of length 1 but for rows of zeros. Collective for dense rows that
/// are cut: an allgather of 8 bytes.
[[nodiscard]] sparse::DCSRMatrix unit_rows(const Rows& rows);

/// As Search of each of the learnt rows and each that asks, by the products of their entries, from twice 1 - x.y on.
/// Collective: the entries of all ranks' learnt rows but one's go round, 24 bytes each, an all-gather of 8 bytes a rank
/// and an all-reduce of 8; nothing where all ranks have these.
void search_entries(const sparse::DCSRMatrix& asking, const sparse::DCSRMatrix& learnt, const Search& search);

}  // namespace heatpp::ml::detail
