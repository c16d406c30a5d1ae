#include <heatpp/ml/cluster/batch_parallel.hpp>
#include <heatpp/ml/cluster/detail/medians.hpp>
#include <heatpp/ml/cluster/detail/seeding.hpp>
#include <heatpp/ml/cluster/detail/start.hpp>
#include <heatpp/ml/detail/ending.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/cluster.hpp>
#include <heatpp/ml/detail/row_random.hpp>

#include <array>

namespace heatpp {
namespace {

using namespace ml::detail;

/// How a set of rows is clustered without communication.
struct Clusterer {
  const BatchParallelOptions& options;
  bool medians;
  double tolerance;

  [[nodiscard]] LloydResult operator()(const Weighted& data, const at::Tensor& first) const {
    const LloydOptions steps{options.max_iterations, tolerance};
    return medians ? alternate(data, first, CenterRule::medians, steps) : lloyd(data, first, steps);
  }
};

/// Returns this rank's rows as a source of their own.
Rows own(const Rows& x) {
  const auto read = [x](std::int64_t first, std::int64_t count) { return x.read(first, count); };
  return x.distributed() ? Rows(x.count(), x.features(), read, {.dtype = x.dtype(), .comm = self()}) : x;
}

/// Centers; behind the numbers of each is the weight of the rows nearest to it.
struct Local {
  at::Tensor centers;
  std::int64_t iterations = 0;
  bool converged = true;
};
Local clustered(const Weighted& data, const Clusterer& method, const std::optional<at::Tensor>& given,
                std::uint64_t seed) {
  const auto k = method.options.n_clusters, n = data.rows.count();
  if (n <= k) {
    const auto rows =
        n > 0 ? data.rows.read(0, n).to(at::kCPU, at::kDouble) : at::empty({0, data.rows.features()}, at::kDouble);
    const auto weights =
        data.weights ? at::from_blob(const_cast<double*>(data.weights), {n}, at::kDouble) : at::ones({n}, at::kDouble);
    return {at::cat({rows, weights.unsqueeze(1)}, 1)};
  }
  const auto found = method(data, given ? *given : first_centers(data, k, method.options.init, seed));
  const auto weights = weights_near(data, found.centers, method.medians);
  return {at::cat({found.centers, at::tensor(weights, at::kDouble).unsqueeze(1)}, 1), found.iterations,
          found.converged};
}

}  // namespace

void BatchParallelClusters::learn_from(const Rows& x, const FitOptions& options) {
  const Method op(kind(), "fit");
  check_agreed(op, x, options_);
  check_kmeans_options(
      op, {.n_clusters = options_.n_clusters, .max_iterations = options_.max_iterations, .tol = options_.tol}, x);
  const auto weights = weights_beside(op, x, options.sample_weight);
  const Weighted data{op, x, weights ? weights->const_data_ptr<double>() : nullptr};
  const Clusterer method{options_, distance_ == Distance::manhattan, options_.tol * mean_variance(data.op, x)};
  std::optional<at::Tensor> given;
  if (std::holds_alternative<DNDarray>(options_.init))
    given = first_centers(data, options_.n_clusters, options_.init, options_.seed);
  std::array<std::int64_t, 2> most{};  // most iterations of any rank; whether any has not converged
  const auto candidates = gathered_rows(x, [&] {
    const auto rows = own(x);
    const auto local = clustered({data.op, rows, data.weights}, method, given,
                                 seed_of(options_.seed, static_cast<std::uint64_t>(x.first())));
    most = {local.iterations, local.converged ? 0 : 1};
    return local.centers;
  });
  const auto f = x.features();
  auto centers = candidates.slice(1, 0, f).contiguous();
  if (x.distributed()) {
    const auto mass = candidates.select(1, f).contiguous();
    const Rows few(replicated(centers, float64, x.comm()));
    const Weighted weighted{data.op, few, mass.const_data_ptr<double>()};
    const auto merged = method(weighted, plus_plus(weighted, options_.n_clusters, options_.seed));
    centers = merged.centers;
    if (!merged.converged) most[1] = 1;
    x.comm().allreduce(most, ReduceOp::max);
  }
  warn_unless(most[1] == 0, op, most[0]);
  learn(judged(data, replicated(centers, working_dtype(x), x.comm()), most[0], most[1] == 0));
}

}  // namespace heatpp
