#pragma once

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/operands/operand.hpp>

// Samples of known clusters, drawn from the default generator; equal for any number of ranks.
namespace heatpp::datasets {

/// Rows of samples, and the cluster of each as int64. The options give the split of both, along axis 0; a grid is a
/// ValueError.
struct Clusters {
  DNDarray samples, labels;
};

struct ClusterOptions {
  std::optional<DNDarray> weights = std::nullopt;  ///< relative probabilities of the clusters; nullopt: equal
  ArrayOptions array = {};
};
/// Draws `n` samples of normal clusters: row k of `means` is the center of cluster k, and row k of `deviations`, which
/// broadcasts to the shape of `means`, the standard deviation of each feature. Throws ValueError for other shapes, and
/// weights that are negative or sum to 0. Collective.
[[nodiscard]] Clusters create_clusters(std::int64_t n, const DNDarray& means, const Operand& deviations,
                                       const ClusterOptions& options = {});

struct SphericalOptions {
  double radius = 1;  ///< of each ball
  double offset = 4;  ///< the centers are (c, c, c) with c = offset, 2 offset, -offset and -2 offset
  ArrayOptions array = {};
};
/// Draws `n` uniformly distributed samples in each of four balls in three dimensions, one ball after the other.
/// Collective. Throws ValueError for a negative n or radius.
[[nodiscard]] Clusters create_spherical_dataset(std::int64_t n, const SphericalOptions& options = {});

}  // namespace heatpp::datasets
