#pragma once

#include <heatpp/sparse/dcsr.hpp>

namespace heatpp::sparse {

// Square matrices as graphs: entry (i, j) is the weight of the edge from i to j. Other matrices are a ValueError.

struct LaplacianOptions {
  bool normalized = false;  ///< D^-1/2 (D - A) D^-1/2; a vertex without edges has 0 on the diagonal
};
/// Returns D - A, where D are the degrees: sums of rows without the diagonal; cut as `a`. Entries on the diagonal of
/// `a`, loops, are ignored. Collective: an allgather of 8 bytes for each of the two sums, and if normalized all degrees
/// gathered.
[[nodiscard]] DCSRMatrix laplacian(const DCSRMatrix& a, const LaplacianOptions& options = {});

/// How edges connect vertices.
enum class Connection {
  weak,   ///< by edges in any direction
  strong  ///< by paths in both directions
};
struct ComponentsOptions {
  bool directed = true;  ///< false: every edge leads in both directions, and `connection` has no effect
  Connection connection = Connection::weak;
};
/// The components of vertices that edges connect.
struct Components {
  std::int64_t count = 0;
  DNDarray labels;  ///< (n,) int64, cut as the rows: 0, 1, ... in the order of the components' first vertices
};
/// Finds connected components, as SciPy's `connected_components`, with the same numbers on any number of ranks.
///
/// Weak ones: every rank joins what its own edges connect (Tarjan, 1975). Then the least vertices of components on
/// several ranks travel over the halo, twice 8 bytes for each of its vertices and 1 byte to agree, as often as a
/// component leaves and enters ranks. At last each vertex asks for its number.
///
/// Strong ones: every rank joins what its own edges connect strongly (Tarjan, 1972). Then vertices without edges in or
/// out are removed. The rest is divided by what the first vertex in a random order reaches; the vertices that reach it
/// in turn are a component (Orzan, 2004). The expected number of rounds is the logarithm of the number of components on
/// several ranks. Each step of a round sends 8 bytes for each vertex of the halo and 1 byte to agree, as often as ways
/// leave and enter ranks. Collective.
[[nodiscard]] Components connected_components(const DCSRMatrix& a, const ComponentsOptions& options = {});

struct PageRankOptions {
  double damping = 0.85;  ///< probability to follow an edge instead of a jump to any vertex
  double tol = 1e-6;      ///< ends if the sum of all changes is at most this; probabilities sum to 1
  std::int64_t max_iterations = 100;
};
/// Returns the probability of each vertex, (n,), in a random walk that follows edges by their weights, or jumps to any
/// vertex, as it does from vertices without edges (Brin and Page, 1998). Cut as the columns, evenly. An iteration is
/// one product with the adjoint and two all-reduces of a number. Collective. Throws ValueError for negative weights and
/// options out of range, Error if the iteration does not end.
[[nodiscard]] DNDarray pagerank(const DCSRMatrix& a, const PageRankOptions& options = {});

}  // namespace heatpp::sparse
