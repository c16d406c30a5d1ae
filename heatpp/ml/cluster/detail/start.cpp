#include <heatpp/ml/cluster/detail/start.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/cluster/detail/seeding.hpp>
#include <heatpp/ml/detail/column_moments.hpp>

namespace heatpp::ml::detail {
namespace {

using heatpp::detail::raise;

at::Tensor given_centers(const Weighted& data, std::int64_t k, const DNDarray& given) {
  const auto features = data.rows.features();
  if (given.shape() != Shape{k, features})
    raise<ValueError>(data.op, "got centers of shape {}; expected ({}, {})", to_string(given.shape()), k, features);
  if (given.split()) heatpp::detail::check_same_comm(data.op, data.rows.comm(), given.comm());
  const auto centers = resplit(given, std::nullopt).larray().to(at::kCPU, at::kDouble).contiguous();
  if (!centers.isfinite().all().item<bool>())
    raise<ValueError>(data.op, "got centers that are not finite; expected finite ones");
  return centers;
}

}  // namespace

void check_kmeans_options(const char* op, const KMeansOptions& o, const Rows& rows) {
  check_not_empty(op, rows);
  if (o.n_clusters < 1 || o.n_clusters > rows.size() || o.n_init < 1 || o.max_iterations < 1 || !(o.tol >= 0))
    raise<ValueError>(
        op,
        "got {} clusters of {} rows, n_init {}, {} iterations and tol {}; expected 1 <= clusters <= rows, "
        "n_init and iterations >= 1 and tol >= 0",
        o.n_clusters, rows.size(), o.n_init, o.max_iterations, o.tol);
}

at::Tensor first_centers(const Weighted& data, std::int64_t k, const CentersInit& init, std::uint64_t seed) {
  if (const auto* given = std::get_if<DNDarray>(&init)) return given_centers(data, k, *given);
  switch (std::get<KMeansInit>(init)) {
    case KMeansInit::random: return random_rows(data, k, seed);
    case KMeansInit::parallel: return parallel(data, k, seed);
    case KMeansInit::plus_plus: break;
  }
  return plus_plus(data, k, seed);
}

void write_given(const CentersInit& init, ModelState& state) {
  if (const auto* given = std::get_if<DNDarray>(&init)) state.arrays.insert({"init", given->astype(float64)});
}

CentersInit given_or(const CentersInit& init, const StateReader& read, std::int64_t k) {
  return read.has_array("init") ? read.array("init", {k, -1}) : init;
}

double mean_variance(const char* op, const Rows& rows) {
  const auto columns = column_moments(op, rows);
  double sum = 0;
  for (const auto& column : columns) sum += column.m2 / column.n;
  return columns.empty() ? 0 : sum / static_cast<double>(columns.size());
}

}  // namespace heatpp::ml::detail
