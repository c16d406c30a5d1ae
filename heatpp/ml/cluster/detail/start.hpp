#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>
#include <heatpp/ml/cluster/kmeans.hpp>

// How a fit of centres starts.
namespace heatpp::ml::detail {

using CentresInit = std::variant<KMeansInit, DNDarray>;

/// Throws ValueError for options out of range.
void check_kmeans_options(const char* op, const KMeansOptions& options, const Rows& rows);
/// The given centres, or k rows that are chosen as asked for, (k, features) float64, on every rank. Collective: what
/// seeding communicates, or what it takes to gather the given ones. Throws ValueError for given ones of another shape
/// or that are not finite.
[[nodiscard]] at::Tensor first_centres(const Weighted& data, std::int64_t k, const CentresInit& init,
                                       std::uint64_t seed);
/// The mean over the columns of their variances. Collective, and throws, as column_moments.
[[nodiscard]] double mean_variance(const char* op, const Rows& rows);

}  // namespace heatpp::ml::detail
