#pragma once

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/operands/operand.hpp>

// Samples of known clusters, drawn from the default generator: the same on any number of ranks.
namespace heatpp::datasets {

/// Rows of samples, and of which cluster each is, as int64. Both are split as the options say, along axis 0.
struct Clusters {
  DNDarray samples, labels;
};

struct ClusterOptions {
  std::optional<DNDarray> weights = std::nullopt;  ///< how likely each cluster is; nullopt: equally
  ArrayOptions array = {};
};
/// `n` samples of normal clusters: cluster k has its centre in row k of `means`, and the deviation of each feature in
/// row k of `deviations`, which broadcasts to the shape of `means`. Throws ValueError for other shapes, and weights
/// that are negative or sum to 0. Collective.
[[nodiscard]] Clusters create_clusters(std::int64_t n, const DNDarray& means, const Operand& deviations,
                                       const ClusterOptions& options = {});

struct SphericalOptions {
  double radius = 1;  ///< of each ball
  double offset = 4;  ///< the centres are (c, c, c) with c = offset, 2 offset, -offset and -2 offset
  ArrayOptions array = {};
};
/// Four balls in three dimensions, of `n` samples each, uniformly distributed, one ball after the other. Collective.
/// Throws ValueError for a negative n or radius.
[[nodiscard]] Clusters create_spherical_dataset(std::int64_t n, const SphericalOptions& options = {});

}  // namespace heatpp::datasets
