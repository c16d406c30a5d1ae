#pragma once

#include <heatpp/sparse/detail/structure.hpp>

namespace heatpp::sparse::detail {

/// Returns the layout of a matrix whose rows are cut evenly, or which is whole on every rank. Unlike arrays, a matrix
/// that is cut may have more elements than 63 bits count, because only its entries are stored. Throws ValueError for
/// negative extents.
[[nodiscard]] Layout rows_layout(Shape shape, bool cut, int ranks);

/// Makes the matrix under `layout` of this rank's triples. Every rank has some of them (`apart`), or
/// all. Collective if apart: an alltoall and one exchange of 16 bytes and a value for each that another
/// rank owns. Throws ValueError on all ranks for places out of range, and for duplicates if they are
/// refused.
[[nodiscard]] DCSRMatrix placed(const char* op, Triples triples, const Layout& layout, const Communicator& comm,
                                bool apart, Duplicates duplicates = Duplicates::summed);

/// Returns the matrix under another layout of the same shape. Collective if rows move.
[[nodiscard]] DCSRMatrix relayout(const char* op, const DCSRMatrix& a, const Layout& layout);

}  // namespace heatpp::sparse::detail
