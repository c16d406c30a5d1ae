#pragma once

#include <heatpp/ml/neighbors/nearest_neighbors.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp {

/// The value of an entry of a graph of neighbors: 1, or the distance.
enum class GraphMode { connectivity, distance };

struct NeighborsGraphOptions {
  GraphMode mode = GraphMode::connectivity;
  bool include_self = false;  ///< whether a row may be its own neighbor, at distance 0
  Metric metric = Metric::euclidean;
};

/// Returns the graph of the k nearest of (n, features) rows: an (n, n) sparse matrix, cut as the rows and in their
/// floating dtype, with an entry (i, j) if j is one of the k rows nearest to i. Not symmetric; distances of 0 are
/// entries. Collective: as NearestNeighbors.kneighbors, and an all-gather of 8 bytes. Throws as kneighbors.
[[nodiscard]] sparse::DCSRMatrix kneighbors_graph(const Rows& x, std::int64_t k,
                                                  const NeighborsGraphOptions& options = {});
/// Returns the symmetric graph of rows that are at most `radius` from each other. Collective: as
/// NearestNeighbors.radius_neighbors, and an all-gather of 8 bytes. Throws as radius_neighbors.
[[nodiscard]] sparse::DCSRMatrix radius_neighbors_graph(const Rows& x, double radius,
                                                        const NeighborsGraphOptions& options = {});

}  // namespace heatpp
