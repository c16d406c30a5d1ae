#pragma once

#include <heatpp/ml/neighbors/nearest_neighbors.hpp>
#include <heatpp/sparse/dcsr.hpp>

namespace heatpp {

/// What an entry of a graph of neighbours is: 1, or the distance.
enum class GraphMode { connectivity, distance };

struct NeighborsGraphOptions {
  GraphMode mode = GraphMode::connectivity;
  bool include_self = false;  ///< whether a row may be its own neighbour, at distance 0
  Metric metric = Metric::euclidean;
};

/// The graph of the k nearest of (n, features) rows: an (n, n) sparse matrix, cut as the rows and in their floating
/// dtype, whose entries (i, j) say that j is one of the k that are nearest to i. Not symmetric; distances of 0 are
/// entries. Collective: as NearestNeighbors.kneighbors, and an all-gather of 8 bytes. Throws as that.
[[nodiscard]] sparse::DCSRMatrix kneighbors_graph(const Rows& x, std::int64_t k,
                                                  const NeighborsGraphOptions& options = {});
/// The graph of the rows that are at most `radius` from each other: symmetric. Collective: as
/// NearestNeighbors.radius_neighbors, and an all-gather of 8 bytes. Throws as that.
[[nodiscard]] sparse::DCSRMatrix radius_neighbors_graph(const Rows& x, double radius,
                                                        const NeighborsGraphOptions& options = {});

}  // namespace heatpp
