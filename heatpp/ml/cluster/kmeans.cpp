#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/cluster/detail/seeding.hpp>
#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/detail/column_moments.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/nearest.hpp>
#include <heatpp/ml/detail/row_random.hpp>
#include <heatpp/ml/detail/state.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

void check_options(const KMeansOptions& o, const Rows& rows) {
  if (o.n_clusters < 1 || o.n_clusters > rows.size() || o.n_init < 1 || o.max_iterations < 1 || !(o.tol >= 0))
    detail::raise<ValueError>("KMeans.fit",
                              "got {} clusters of {} rows, n_init {}, {} iterations and tol {}; expected 1 <= clusters "
                              "<= rows, n_init and iterations >= 1 and tol >= 0",
                              o.n_clusters, rows.size(), o.n_init, o.max_iterations, o.tol);
}

at::Tensor given_centres(const KMeansOptions& options, const Rows& rows) {
  const auto& given = std::get<DNDarray>(options.init);
  if (given.shape() != Shape{options.n_clusters, rows.features()})
    detail::raise<ValueError>("KMeans.fit", "got centres of shape {}; expected ({}, {})", to_string(given.shape()),
                              options.n_clusters, rows.features());
  const auto centres = resplit(given, std::nullopt).larray().to(at::kCPU, at::kDouble).contiguous();
  if (!centres.isfinite().all().item<bool>())
    detail::raise<ValueError>("KMeans.fit", "got centres that are not finite; expected finite ones");
  return centres;
}

at::Tensor first_centres(const Weighted& data, const KMeansOptions& options, std::uint64_t start) {
  if (std::holds_alternative<DNDarray>(options.init)) return given_centres(options, data.rows);
  const auto seed = seed_of(options.seed, start);
  switch (std::get<KMeansInit>(options.init)) {
    case KMeansInit::random: return random_rows(data, options.n_clusters, seed);
    case KMeansInit::parallel: return parallel(data, options.n_clusters, seed);
    case KMeansInit::plus_plus: break;
  }
  return plus_plus(data, options.n_clusters, seed);
}

double mean_variance(const std::vector<Moments>& columns) {
  double sum = 0;
  for (const auto& column : columns) sum += column.m2 / column.n;
  return columns.empty() ? 0 : sum / static_cast<double>(columns.size());
}

DNDarray labels_of(const Rows& rows, std::vector<std::int32_t>& labels) {
  return as_rows(rows, at::from_blob(labels.data(), {std::ssize(labels)}, at::kInt).to(at::kLong));
}

const double* data_of(const std::optional<at::Tensor>& weights) {
  return weights ? weights->const_data_ptr<double>() : nullptr;
}

}  // namespace

KMeans& KMeans::fit(const Rows& x, const FitOptions& options) {
  check_options(options_, x);
  const auto weights = weights_beside("KMeans.fit", x, options.sample_weight);
  const Weighted data{"KMeans.fit", x, data_of(weights)};
  const auto tolerance = options_.tol * mean_variance(column_moments(data.op, x));
  const auto starts = std::holds_alternative<DNDarray>(options_.init) ? 1 : options_.n_init;
  std::optional<Learnt> best;
  for (int start = 0; start < starts; ++start) {
    const auto found = lloyd(data, first_centres(data, options_, static_cast<std::uint64_t>(start)),
                             {options_.max_iterations, tolerance, options_.progress});
    const auto centers = replicated(found.centres, working_dtype(x), x.comm());
    auto [labels, inertia] = labelled(data.op, x, data.weights, centers.larray().to(at::kDouble));
    if (!best || inertia < best->inertia) best = Learnt{centers, labels_of(x, labels), inertia, found.iterations};
  }
  learnt_ = std::move(best);
  return *this;
}

DNDarray KMeans::predict(const Rows& x) const {
  const auto& centers = learnt("KMeans.predict").centers;
  check_features("KMeans.predict", x, centers.shape()[1]);
  auto found = labelled("KMeans.predict", x, nullptr, centers.larray().to(at::kDouble));
  return labels_of(x, found.labels);
}

DNDarray KMeans::transform(const Rows& x) const {
  const auto& centers = learnt("KMeans.transform").centers;
  check_features("KMeans.transform", x, centers.shape()[1]);
  const auto where = centers.larray().to(detail::to_torch(working_dtype(x)));
  constexpr std::int64_t by_differences = 2;
  return mapped(x, where.size(0), [&](const at::Tensor& block) { return at::cdist(block, where, 2, by_differences); });
}

double KMeans::score(const Rows& x, const FitOptions& options) const {
  const auto& centers = learnt("KMeans.score").centers;
  check_features("KMeans.score", x, centers.shape()[1]);
  const auto weights = weights_beside("KMeans.score", x, options.sample_weight);
  return -labelled("KMeans.score", x, data_of(weights), centers.larray().to(at::kDouble)).inertia;
}

ModelState KMeans::state() const {
  const auto& found = learnt("KMeans.state");
  return {"KMeans",
          {{"n_clusters", text_of(options_.n_clusters)},
           {"n_init", text_of(options_.n_init)},
           {"max_iterations", text_of(options_.max_iterations)},
           {"tol", text_of(options_.tol)},
           {"seed", text_of(options_.seed)},
           {"inertia", text_of(found.inertia)},
           {"iterations", text_of(found.iterations)}},
          {{"centers", found.centers}}};
}

KMeans KMeans::from_state(const ModelState& state) {
  const StateReader read("KMeans", state);
  KMeans model({.n_clusters = read.option<std::int64_t>("n_clusters"),
                .n_init = read.option<int>("n_init"),
                .max_iterations = read.option<std::int64_t>("max_iterations"),
                .tol = read.option<double>("tol"),
                .seed = read.option<std::uint64_t>("seed")});
  model.learnt_ = Learnt{read.array("centers", {model.options_.n_clusters, -1}), DNDarray(),
                         read.option<double>("inertia"), read.option<std::int64_t>("iterations")};
  return model;
}

const KMeans::Learnt& KMeans::learnt(const char* op) const { return fitted(op, learnt_); }

const DNDarray& KMeans::centers() const { return learnt("KMeans.centers").centers; }
const DNDarray& KMeans::labels() const { return learnt("KMeans.labels").labels; }
double KMeans::inertia() const { return learnt("KMeans.inertia").inertia; }
std::int64_t KMeans::iterations() const { return learnt("KMeans.iterations").iterations; }

}  // namespace heatpp
