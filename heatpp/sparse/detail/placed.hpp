#pragma once

#include <heatpp/sparse/detail/structure.hpp>

namespace heatpp::sparse::detail {

/// The matrix under `layout` with this rank's triples, which every rank has some of (`apart`), or all of which every
/// rank has. Collective where they lie apart: an alltoall and one exchange of 16 bytes and a value for each that
/// another rank owns. Throws ValueError on all ranks for places out of range, and for duplicates where they are
/// refused.
[[nodiscard]] DCSRMatrix placed(const char* op, Triples triples, const Layout& layout, const Communicator& comm,
                                bool apart, Duplicates duplicates = Duplicates::summed);

/// The same matrix under another layout of the same shape. Collective where rows move.
[[nodiscard]] DCSRMatrix relayout(const char* op, const DCSRMatrix& a, const Layout& layout);

}  // namespace heatpp::sparse::detail
