#pragma once

#include <heatpp/ml/cluster/detail/lloyd.hpp>
#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/detail/state.hpp>

// Options and first centers of k-means and its relatives.
namespace heatpp::ml::detail {

using CentresInit = std::variant<KMeansInit, DNDarray>;

/// Throws ValueError for options out of range.
void check_kmeans_options(const char* op, const KMeansOptions& options, const Rows& rows);
/// Returns the given centers, or k rows chosen by `init`, (k, features) float64, on every rank. Collective: what
/// seeding communicates, or the gather of the given ones. Throws ValueError for given ones of another shape or that are
/// not finite.
[[nodiscard]] at::Tensor first_centres(const Weighted& data, std::int64_t k, const CentresInit& init,
                                       std::uint64_t seed);
/// Write the choice of first centers to a state, and read it; older states lack it, and give the usual choice.
void write_init(const CentresInit& init, ModelState& state);
[[nodiscard]] CentresInit init_from(const StateReader& read, std::int64_t k);
/// Returns the mean of the columns' variances. Collective, and throws, as column_moments.
[[nodiscard]] double mean_variance(const char* op, const Rows& rows);

}  // namespace heatpp::ml::detail
