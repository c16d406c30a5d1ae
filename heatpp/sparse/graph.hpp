#pragma once

#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

// A square matrix as a graph: entry (i, j) is the weight of the edge from i to j. Throw ValueError for other matrices.

struct LaplacianOptions {
  bool normalized = false;  ///< D^-1/2 (D - A) D^-1/2, in which a vertex without edges has 0 on the diagonal
};
/// D - A, D being the degrees, sums of rows without the diagonal; cut as `a`. Entries on the diagonal of `a`, loops,
/// count for nothing. Collective: an allgather of 8 bytes for each of the two sums, and if normalized all degrees
/// gathered.
[[nodiscard]] DCSRMatrix laplacian(const DCSRMatrix& a, const LaplacianOptions& options = {});

/// Which vertices edges connect, in any direction.
struct Components {
  std::int64_t count = 0;
  DNDarray labels;  ///< (n,) int64, cut as the rows: 0, 1, ... in the order of the components' first vertices
};
/// Components that are weakly connected, as scipy's `connected_components(a, directed=False)`. Every rank joins what
/// its own edges connect (Tarjan, 1975), and then the least vertices of what lies on several ranks travel over the
/// halo, twice 8 bytes for each of its vertices and 1 byte to agree, as often as a component leaves and enters ranks;
/// at last each vertex asks for its number. Collective.
[[nodiscard]] Components connected_components(const DCSRMatrix& a);

struct PageRankOptions {
  double damping = 0.85;  ///< the probability to follow an edge, rather than to go anywhere
  double tol = 1e-6;      ///< ends where the sum of all changes is at most this, of probabilities whose sum is 1
  std::int64_t max_iterations = 100;
};
/// The probability of each vertex, (n,), to be where a walk is that follows edges as likely as they weigh, or goes
/// anywhere, as it does from vertices without edges (Brin and Page, 1998). Cut as the columns, evenly. An iteration is
/// one product with the adjoint and two all-reduces of a number. Collective. Throws ValueError for negative weights and
/// options out of range, Error where the iteration does not end.
[[nodiscard]] DNDarray pagerank(const DCSRMatrix& a, const PageRankOptions& options = {});

}  // namespace heatpp::sparse
