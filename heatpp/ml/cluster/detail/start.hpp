#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>
#include <heatpp/ml/detail/options/cluster.hpp>

// Options and first centers of k-means and its relatives.
namespace heatpp::ml::detail {

/// Throws ValueError for options out of range.
void check_kmeans_options(const char* op, const KMeansOptions& options, const Rows& rows);
/// Returns the given centers, or k rows chosen by `init`, (k, features) float64, on every rank. Collective: what
/// seeding communicates, or the gather of the given ones. Throws ValueError for given ones of another shape or that are
/// not finite.
[[nodiscard]] at::Tensor first_centers(const Weighted& data, std::int64_t k, const CentersInit& init,
                                       std::uint64_t seed);
/// Write first centers that are given to a state, and read them; `init` if the state has none.
void write_given(const CentersInit& init, ModelState& state);
[[nodiscard]] CentersInit given_or(const CentersInit& init, const StateReader& read, std::int64_t k);
/// Returns the mean of the columns' variances. Collective, and throws, as column_moments.
[[nodiscard]] double mean_variance(const char* op, const Rows& rows);

}  // namespace heatpp::ml::detail
