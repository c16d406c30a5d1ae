#pragma once

#include <heatpp/linalg/decompositions/detail/tall.hpp>

// Decompositions of a tall matrix, of which each rank has the rows `x`, by the triangles of the ranks' rows.
namespace heatpp::detail {

/// All triangles are decomposed on every rank. Collective: an all-gather of n^2 elements a rank, for n columns.
[[nodiscard]] Tall by_triangles(const at::Tensor& x, const Layout& layout, const Communicator& comm);

/// Two ranks join their triangles, two pairs theirs, and so on (Demmel et al., Communication-optimal parallel and
/// sequential QR and LU factorizations, 2012). A rank holds at most 3 log2 P times n^2 elements. Collective: an
/// exchange of n^2 elements on each of log2 P levels, up and down, and a broadcast of them.
[[nodiscard]] Tall by_pairs(const at::Tensor& x, const Layout& layout, const Communicator& comm);

}  // namespace heatpp::detail
