#include <heatpp/ml/cluster/center_clusters.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/cluster/detail/lloyd.hpp>
#include <heatpp/ml/cluster/detail/manhattan.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>

namespace heatpp {

using namespace ml::detail;

namespace {

DNDarray as_labels(const Rows& rows, std::vector<std::int32_t>& labels) {
  return as_rows(rows, at::from_blob(labels.data(), {std::ssize(labels)}, at::kInt).to(at::kLong));
}

}  // namespace

const CenterClusters::Fitted& CenterClusters::fitted_state(const char* what) const {
  return fitted(Method(kind_, what), fitted_);
}

CenterClusters::Fitted CenterClusters::judged(const Weighted& data, const DNDarray& centers, std::int64_t iterations,
                                              bool converged) const {
  auto [labels, inertia] = (distance_ == Distance::squared ? labelled : labelled_manhattan)(
      data.op, data.rows, data.weights, centers.larray().to(at::kDouble));
  return {centers, as_labels(data.rows, labels), inertia, iterations, converged};
}

DNDarray CenterClusters::predict(const Rows& x) const {
  const auto& centers = fitted_state("predict").centers;
  const Method op(kind_, "predict");
  check_features(op, x, centers.shape()[1]);
  return judged({op, x, nullptr}, centers).labels;
}

DNDarray CenterClusters::transform(const Rows& x) const {
  const auto& centers = fitted_state("transform").centers;
  check_features(Method(kind_, "transform"), x, centers.shape()[1]);
  if (sparse_rows(x) && distance_ == Distance::squared) {
    const auto c = centers.larray().to(at::kDouble);
    const auto columns = c.t().contiguous(), norms = c.square().sum(1);
    return mapped_stored(x, c.size(0), [&](const RowBlock& block) {
      return block.times(columns).mul_(-2).add_(norms).add_(block.squares().unsqueeze(1)).clamp_min_(0).sqrt_();
    });
  }
  const auto where = centers.larray().to(detail::to_torch(working_dtype(x)));
  const auto power = distance_ == Distance::squared ? 2.0 : 1.0;
  constexpr std::int64_t by_differences = 2;
  return mapped(x, where.size(0),
                [&](const at::Tensor& block) { return at::cdist(block, where, power, by_differences); });
}

double CenterClusters::score(const Rows& x, const FitOptions& options) const {
  const auto& centers = fitted_state("score").centers;
  const Method op(kind_, "score");
  check_features(op, x, centers.shape()[1]);
  const auto weights = weights_beside(op, x, options.sample_weight);
  return -judged({op, x, weights ? weights->const_data_ptr<double>() : nullptr}, centers).inertia;
}

const DNDarray& CenterClusters::centers() const { return fitted_state("centers").centers; }
const DNDarray& CenterClusters::labels() const { return fitted_state("labels").labels; }
double CenterClusters::inertia() const { return fitted_state("inertia").inertia; }
std::int64_t CenterClusters::iterations() const { return fitted_state("iterations").iterations; }
bool CenterClusters::converged() const { return fitted_state("converged").converged; }

}  // namespace heatpp
