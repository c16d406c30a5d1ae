#include "estimators.hpp"

#include "model.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/ml/ml.hpp>
#include <heatpp/ops/operands/index.hpp>

namespace {

template <class M>
std::shared_ptr<const Model> of(M model) {
  return std::make_shared<Of<M>>(std::move(model));
}

/// A row of each species, on every rank.
ht::DNDarray places() {
  const auto x = at::round(10 * iris()).index_select(0, at::tensor({10, 80, 130}, at::kLong));
  return distribute(x, ht::Layout({3, 4}, std::nullopt, ht::world().size()));
}

// These adapt estimators that take something else than rows, or have templates as methods.

struct ColumnEncoder {
  ht::LabelEncoder encoder = {};
  static ht::DNDarray column(const ht::DNDarray& x) { return x(ht::ellipsis, 0); }
  void fit(const ht::DNDarray& x) { encoder.fit(column(x)); }
  [[nodiscard]] ht::DNDarray transform(const ht::DNDarray& x) const { return encoder.transform(column(x)); }
  [[nodiscard]] auto classes() const { return encoder.classes(); }
};

struct Graph {
  ht::graph::Laplacian laplacian{[](const ht::Rows& x) { return ht::spatial::rbf(x, {.sigma = 10}); }};
  void fit(const ht::DNDarray& x) { std::ignore = laplacian.construct(x); }
  [[nodiscard]] ht::DNDarray transform(const ht::DNDarray& x) const { return laplacian.construct(x); }
};

/// Rows are points, and their features snapshots.
struct Flow {
  ht::DMD model{{.rank = 2}};
  void fit(const ht::DNDarray& x) { model.fit(x); }
  [[nodiscard]] ht::DNDarray predict(const ht::DNDarray& x) const { return model.predict(x, {0, 1, 2}); }
  [[nodiscard]] auto reconstruct() const { return model.reconstruct(); }
  [[nodiscard]] auto rates() const { return model.rates(); }
  [[nodiscard]] auto n_modes() const { return model.n_modes(); }
  [[nodiscard]] auto state() const { return model.state(); }
  [[nodiscard]] static Flow from_state(const ht::ModelState& state) { return {ht::DMD::from_state(state)}; }
};

struct DrivenFlow {
  ht::DMDc model{{.rank = 2}};
  static ht::DNDarray controls(const ht::DNDarray& x, std::int64_t steps) {
    return ht::arange(steps, {.dtype = ht::float64, .comm = x.comm()}).index({ht::newaxis});
  }
  void fit(const ht::DNDarray& x) { model.fit(x, controls(x, x.shape()[1])); }
  [[nodiscard]] ht::DNDarray predict(const ht::DNDarray& x) const { return model.predict(x, controls(x, 2)); }
  [[nodiscard]] auto rates() const { return model.rates(); }
  [[nodiscard]] auto n_system_modes() const { return model.n_system_modes(); }
  [[nodiscard]] auto state() const { return model.state(); }
  [[nodiscard]] static DrivenFlow from_state(const ht::ModelState& state) { return {ht::DMDc::from_state(state)}; }
};

struct ScaledClusters {
  ht::Pipeline<ht::StandardScaler, ht::KMeans> model{ht::StandardScaler(), ht::KMeans({.n_clusters = 3})};
  void fit(const ht::DNDarray& x) { model.fit(x); }
  [[nodiscard]] ht::DNDarray predict(const ht::DNDarray& x) const { return model.predict(x); }
};

ht::Ridge ridge(double alpha) { return ht::Ridge({.alpha = alpha}); }

using Search = ht::GridSearch<decltype(&ridge), double>;

}  // namespace

const std::vector<Estimator>& estimators() {
  const auto given = places();
  static const std::vector<Estimator> all{
      {.name = "KMeans", .unfitted = of(ht::KMeans({.n_clusters = 3, .n_init = 10})), .checks_rows = true},
      {.name = "KMeans",
       .unfitted = of(ht::KMeans({.n_clusters = 3, .init = given})),
       .checks_rows = true,
       .weight_is_rows = true},
      {.name = "KMedians",
       .unfitted = of(ht::KMedians({.n_clusters = 3, .init = given})),
       .checks_rows = true,
       .weight_is_rows = true},
      {.name = "KMedoids", .unfitted = of(ht::KMedoids({.n_clusters = 3})), .checks_rows = true},
      {.name = "MiniBatchKMeans",
       .unfitted = of(ht::MiniBatchKMeans({.n_clusters = 3, .batch_size = 30})),
       .checks_rows = true},
      {.name = "BatchParallelKMeans",
       .unfitted = of(ht::BatchParallelKMeans({.n_clusters = 3})),
       .by_cut = true,
       .checks_rows = true},
      {.name = "BatchParallelKMedians",
       .unfitted = of(ht::BatchParallelKMedians({.n_clusters = 3})),
       .by_cut = true,
       .checks_rows = true},
      {.name = "Spectral", .unfitted = of(ht::Spectral({.n_clusters = 3, .gamma = 0.005}))},
      {.name = "DBSCAN", .unfitted = of(ht::DBSCAN({.eps = 5})), .of_no_rows = true},
      {.name = "Laplacian", .unfitted = of(Graph()), .learns_nothing = true},
      {.name = "GaussianMixture",
       .unfitted = of(ht::GaussianMixture({.n_components = 3, .n_init = 5})),
       .checks_rows = true},
      {.name = "GaussianMixture",
       .unfitted = of(ht::GaussianMixture({.n_components = 3, .means_init = given})),
       .checks_rows = true,
       .weight_is_rows = true},

      {.name = "LinearRegression",
       .unfitted = of(ht::LinearRegression()),
       .targets = Targets::numbers,
       .weight_is_rows = true},
      {.name = "Ridge", .unfitted = of(ht::Ridge()), .targets = Targets::numbers, .weight_is_rows = true},
      {.name = "ElasticNet", .unfitted = of(ht::ElasticNet()), .targets = Targets::numbers, .weight_is_rows = true},
      {.name = "Lasso", .unfitted = of(ht::Lasso()), .targets = Targets::numbers, .weight_is_rows = true},
      {.name = "LogisticRegression",
       .unfitted = of(ht::LogisticRegression()),
       .targets = Targets::labels,
       .tolerance = 1e-6,
       .checks_rows = true,
       .weight_is_rows = true},
      {.name = "PoissonRegressor",
       .unfitted = of(ht::PoissonRegressor()),
       .targets = Targets::numbers,
       .tolerance = 1e-6,
       .weight_is_rows = true},

      {.name = "GaussianNB",
       .unfitted = of(ht::GaussianNB()),
       .targets = Targets::labels,
       .checks_rows = true,
       .weight_is_rows = true},
      {.name = "MultinomialNB",
       .unfitted = of(ht::MultinomialNB()),
       .targets = Targets::labels,
       .checks_rows = true,
       .weight_is_rows = true},
      {.name = "BernoulliNB",
       .unfitted = of(ht::BernoulliNB({.binarize = 30})),
       .targets = Targets::labels,
       .checks_rows = true,
       .weight_is_rows = true},

      {.name = "LinearDiscriminantAnalysis",
       .unfitted = of(ht::LinearDiscriminantAnalysis()),
       .targets = Targets::labels,
       .checks_rows = true,
       .weight_is_rows = true},

      {.name = "DecisionTreeClassifier",
       .unfitted = of(ht::DecisionTreeClassifier({.max_depth = 3})),
       .targets = Targets::labels,
       .missing = true,
       .weight_is_rows = true},
      {.name = "DecisionTreeRegressor",
       .unfitted = of(ht::DecisionTreeRegressor({.max_depth = 3})),
       .targets = Targets::numbers,
       .missing = true,
       .weight_is_rows = true},
      {.name = "RandomForestClassifier",
       .unfitted = of(ht::RandomForestClassifier({.n_estimators = 9})),
       .targets = Targets::labels,
       .missing = true},
      {.name = "RandomForestRegressor",
       .unfitted = of(ht::RandomForestRegressor({.n_estimators = 9})),
       .targets = Targets::numbers,
       .missing = true},
      {.name = "HistGradientBoostingClassifier",
       .unfitted = of(ht::HistGradientBoostingClassifier({.max_iterations = 5, .max_depth = 3})),
       .targets = Targets::labels,
       .missing = true},
      {.name = "HistGradientBoostingRegressor",
       .unfitted = of(ht::HistGradientBoostingRegressor({.max_iterations = 5, .max_depth = 3})),
       .targets = Targets::numbers,
       .missing = true},
      {.name = "HistGradientBoostingRegressor",
       .unfitted = of(ht::HistGradientBoostingRegressor(
           {.loss = ht::BoostingLoss::absolute_error, .max_iterations = 5, .max_leaf_nodes = 4})),
       .targets = Targets::numbers,
       .missing = true},

      {.name = "NearestNeighbors", .unfitted = of(ht::NearestNeighbors()), .keeps_cut = true, .checks_rows = true},
      {.name = "KNeighborsClassifier",
       .unfitted = of(ht::KNeighborsClassifier()),
       .targets = Targets::labels,
       .keeps_cut = true,
       .checks_rows = true},
      {.name = "KNeighborsRegressor",
       .unfitted = of(ht::KNeighborsRegressor()),
       .targets = Targets::numbers,
       .keeps_cut = true,
       .checks_rows = true},
      {.name = "InvertedFile",
       .unfitted = of(ht::InvertedFile({.n_lists = 6, .n_probe = 2})),
       .keeps_cut = true,
       .checks_rows = true},

      {.name = "PCA", .unfitted = of(ht::PCA({.n_components = 2, .solver = ht::PcaSolver::covariance}))},
      {.name = "PCA", .unfitted = of(ht::PCA({.n_components = 2, .solver = ht::PcaSolver::full}))},
      {.name = "PCA", .unfitted = of(ht::PCA({.n_components = 2, .solver = ht::PcaSolver::randomized}))},
      {.name = "IncrementalPCA", .unfitted = of(ht::IncrementalPCA({.n_components = 2}))},
      {.name = "TruncatedSVD", .unfitted = of(ht::TruncatedSVD())},
      {.name = "NMF", .unfitted = of(ht::NMF({.n_components = 2})), .tolerance = 1e-6},
      {.name = "DMD", .unfitted = of(Flow()), .keeps_cut = true, .fields = true},
      {.name = "DMDc", .unfitted = of(DrivenFlow()), .keeps_cut = true, .fields = true},

      {.name = "StandardScaler", .unfitted = of(ht::StandardScaler()), .missing = true, .weight_is_rows = true},
      {.name = "MinMaxScaler", .unfitted = of(ht::MinMaxScaler()), .missing = true},
      {.name = "MaxAbsScaler", .unfitted = of(ht::MaxAbsScaler()), .missing = true},
      {.name = "RobustScaler", .unfitted = of(ht::RobustScaler()), .missing = true},
      {.name = "SimpleImputer", .unfitted = of(ht::SimpleImputer()), .missing = true},
      {.name = "QuantileTransformer", .unfitted = of(ht::QuantileTransformer()), .missing = true},
      {.name = "Normalizer", .unfitted = of(ht::Normalizer()), .any_numbers = true, .learns_nothing = true},
      {.name = "PolynomialFeatures", .unfitted = of(ht::PolynomialFeatures()), .any_numbers = true},
      {.name = "OneHotEncoder", .unfitted = of(ht::OneHotEncoder()), .whole_numbers = true},
      {.name = "LabelEncoder", .unfitted = of(ColumnEncoder()), .whole_numbers = true, .of_labels = true},

      {.name = "Pipeline", .unfitted = of(ScaledClusters()), .composed = true},
      {.name = "GridSearch",
       .unfitted = of(Search(&ridge, {0.1, 10.0})),
       .targets = Targets::numbers,
       .composed = true},
  };
  return all;
}
