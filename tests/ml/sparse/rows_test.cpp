#include "../../sparse/sparse_data.hpp"
#include "../data.hpp"

#include <heatpp/ml/ml.hpp>
#include <heatpp_io/numpy/load_npy.hpp>
#include <heatpp/sparse/io/files.hpp>

#include <heatpp/comm/log.hpp>

#include <cstdlib>

// Tests that fits to a sparse matrix equal fits to the same rows with all zeros.
namespace {

using Catch::Contains;

constexpr std::int64_t n = 61, width = 17;

/// Counts with a row and a column of zeros, two thirds of them 0, and the kind of each row, one of three.
at::Tensor counts() {
  auto x = mostly_zeros(n, width).abs();
  for (std::int64_t i = 0; i < n; ++i) x[i][i % 3 * 5 + 3] += i == 1 ? 0.0 : 20.0 + static_cast<double>(i % 7);
  return x;
}
/// These counts, without rows at equal distances from two others.
at::Tensor apart() {
  const auto part = (at::arange(n * width, at::kDouble) * 0.61803398875).frac().reshape({n, width});
  return counts() * (0.9 + 0.2 * part);
}
at::Tensor kinds() { return at::arange(n, at::kLong).remainder(3) * 4 - 1; }
at::Tensor target() { return (at::arange(n, at::kDouble) * 1.7).sin() + counts().sum(1) / 50; }

struct Case {
  at::Tensor global;
  ht::DNDarray dense;
  sp::DCSRMatrix sparse;
  double tolerance;
};
/// Calls f with these rows, dense and sparse, in float64 and float32, for every layout.
template <class F>
void every_case(const at::Tensor& x, F f) {
  for (const auto& global : {x, x.to(at::kFloat)})
    for (const auto& layout : row_layouts({x.size(0), x.size(1)})) {
      const auto dense = distribute(global, layout);
      f(Case{global, dense, sp::from_dense(dense), global.scalar_type() == at::kFloat ? 2e-5 : 1e-9});
    }
}
Agreement near(const ht::DNDarray& a, const ht::DNDarray& b, double tolerance) {
  if (a.split() != b.split()) return {false, "got another split"};
  return near_to(a, gathered(b), tolerance, tolerance);
}
ht::FitOptions weighted() { return {.sample_weight = beside(weights(n))}; }

}  // namespace

TEST_CASE("k-means of sparse rows is that of dense ones", "[ml][sparse]") {
  every_case(apart(), [](const Case& c) {
    const auto start = c.global.slice(0, 3, 7).to(at::kDouble);
    const auto centers = distribute(start, ht::Layout({4, width}, std::nullopt, ht::world().size()));
    for (const auto& options : {ht::KMeansOptions{.n_clusters = 4, .init = centers},
                                {.n_clusters = 4, .init = ht::KMeansInit::plus_plus, .n_init = 2, .seed = 3},
                                {.n_clusters = 4, .init = ht::KMeansInit::parallel, .seed = 3},
                                {.n_clusters = 4, .init = ht::KMeansInit::random, .seed = 3}})
      for (const auto& fit : {ht::FitOptions{}, weighted()}) {
        ht::KMeans of_dense(options), of_sparse(options);
        of_dense.fit(c.dense, fit);
        of_sparse.fit(c.sparse, fit);
        CHECK(same(of_sparse.labels(), gathered(of_dense.labels())));
        CHECK(near(of_sparse.centers(), of_dense.centers(), c.tolerance));
        CHECK(of_sparse.inertia() == Approx(of_dense.inertia()).epsilon(c.tolerance));
        CHECK(of_sparse.iterations() == of_dense.iterations());
        CHECK(same(of_sparse.predict(c.sparse), gathered(of_dense.predict(c.dense))));
        CHECK(of_sparse.score(c.sparse, fit) == Approx(of_dense.score(c.dense, fit)).epsilon(c.tolerance));
        CHECK(near(of_sparse.transform(c.sparse), of_dense.transform(c.dense), 10 * c.tolerance));
      }
  });
}

TEST_CASE("a cluster of sparse rows that loses all of them takes the farthest", "[ml][sparse]") {
  every_case(apart(), [](const Case& c) {
    auto start = c.global.slice(0, 0, 4).to(at::kDouble).clone();
    start[3] += 1e3;
    const auto centers = distribute(start, ht::Layout({4, width}, std::nullopt, ht::world().size()));
    ht::KMeans of_dense({.n_clusters = 4, .init = centers}), of_sparse(of_dense.options());
    CHECK(same(of_sparse.fit_predict(c.sparse), gathered(of_dense.fit_predict(c.dense))));
    CHECK(near(of_sparse.centers(), of_dense.centers(), c.tolerance));
  });
}

TEST_CASE("least squares of sparse rows are those of dense ones", "[ml][sparse]") {
  const auto two = at::stack({target(), target().flip(0)}, 1);
  every_case(counts(), [&](const Case& c) {
    for (const auto& y : {beside(target()), beside(two)})
      for (const auto& fit : {ht::FitOptions{}, weighted()})
        for (const bool intercept : {true, false}) {
          const auto check = [&](auto of_dense) {
            auto of_sparse = of_dense;
            of_dense.fit(c.dense, y, fit);
            of_sparse.fit(c.sparse, y, fit);
            CHECK(near(of_sparse.coef(), of_dense.coef(), c.tolerance));  // a column of zeros: the least norm
            CHECK(near(of_sparse.intercept(), of_dense.intercept(), c.tolerance));
            CHECK(near(of_sparse.predict(c.sparse), of_dense.predict(c.dense), c.tolerance));
            CHECK(of_sparse.score(c.sparse, y, fit) == Approx(of_dense.score(c.dense, y, fit)).epsilon(c.tolerance));
          };
          check(ht::LinearRegression({.intercept = intercept}));
          check(ht::Ridge({.alpha = 3, .intercept = intercept}));
          check(ht::Lasso({.alpha = 0.05, .intercept = intercept, .tol = 1e-10}));
        }
  });
}

TEST_CASE("least squares of sparse wines are scikit-learn's", "[ml][sparse]") {
  const auto kind = at::arange(178, at::kDouble).remainder(5);
  for (const auto& layout : row_layouts({178, 13})) {
    const auto dense = distribute(wine(), layout);
    const auto sparse = sp::from_dense(dense);
    ht::LinearRegression of_dense, of_sparse;  // columns of very different scales
    CHECK(near(of_sparse.fit(sparse, beside(kind)).coef(), of_dense.fit(dense, beside(kind)).coef(), 1e-7));
    ht::Ridge ridge_of_dense({.alpha = 2}), ridge_of_sparse({.alpha = 2});
    CHECK(near(ridge_of_sparse.fit(sparse, beside(kind)).coef(), ridge_of_dense.fit(dense, beside(kind)).coef(), 1e-7));
  }
}

TEST_CASE("least squares of sparse rows that end before they converge are told to the log", "[ml][sparse]") {
  std::string said;
  ht::set_log([&](ht::LogLevel, std::string_view text) { said += text; },
              {.level = ht::LogLevel::warning, .all_ranks = true});
  // Singular values spread evenly over six decades; each has to be found.
  const auto hard = at::pow(10.0, at::arange(60, at::kDouble) / -10).diag();
  for (const auto& layout : row_layouts({60, 60})) {
    const auto fitted = [&](const at::Tensor& x, auto model) {
      said.clear();
      model.fit(sp::from_dense(distribute(x, layout)), beside(at::ones({60}, at::kDouble)));
      return said;
    };
    CHECK_THAT(fitted(hard, ht::LinearRegression({.intercept = false})),
               Contains("[LinearRegression.fit] got a gradient"));
    CHECK_THAT(fitted(hard, ht::Ridge({.alpha = 1e-9, .intercept = false})), Contains("[Ridge.fit] got a gradient"));
    CHECK(fitted(hard, ht::Ridge({.intercept = false})).empty());
    CHECK(fitted(at::eye(60, at::kDouble), ht::LinearRegression()).empty());
  }
  ht::set_log({});
}

TEST_CASE("logistic and Poisson regression of sparse rows are those of dense ones", "[ml][sparse]") {
  every_case(counts(), [](const Case& c) {
    for (const auto& y : {kinds(), kinds().clamp_max(3)})
      for (const auto& options : {ht::LogisticOptions{.max_iterations = 1000, .tol = 1e-9},
                                  {.c = 0.1, .l1_ratio = 1, .max_iterations = 1000, .tol = 1e-9},
                                  {.intercept = false, .max_iterations = 1000, .tol = 1e-9}}) {
        ht::LogisticRegression of_dense(options), of_sparse(options);
        of_dense.fit(c.dense, beside(y), weighted());
        of_sparse.fit(c.sparse, beside(y), weighted());
        CHECK(near(of_sparse.coef(), of_dense.coef(), 1e-4));
        CHECK(near(of_sparse.predict_proba(c.sparse), of_dense.predict_proba(c.dense), 1e-4));
        CHECK(near(of_sparse.decision_function(c.sparse), of_dense.decision_function(c.dense), 1e-4));
        CHECK(same(of_sparse.predict(c.sparse), gathered(of_dense.predict(c.dense))));
        CHECK(of_sparse.score(c.sparse, beside(y)) == of_dense.score(c.dense, beside(y)));
      }
    ht::PoissonRegressor of_dense({.tol = 1e-9}), of_sparse({.tol = 1e-9});
    const auto y = beside(target().abs());
    CHECK(near(of_sparse.fit(c.sparse, y).coef(), of_dense.fit(c.dense, y).coef(), 1e-4));
    CHECK(near(of_sparse.predict(c.sparse), of_dense.predict(c.dense), 1e-4));
  });
}

TEST_CASE("naive Bayes of sparse counts is that of dense ones", "[ml][sparse]") {
  every_case(counts(), [](const Case& c) {
    const auto check = [&](auto of_dense) {
      auto of_sparse = of_dense;
      of_dense.fit(c.dense, beside(kinds()), weighted());
      of_sparse.fit(c.sparse, beside(kinds()), weighted());
      CHECK(near(of_sparse.feature_count(), of_dense.feature_count(), 1e-13));
      CHECK(near(of_sparse.feature_log_prob(), of_dense.feature_log_prob(), 1e-13));
      CHECK(same(of_sparse.predict(c.sparse), gathered(of_dense.predict(c.dense))));
      CHECK(near(of_sparse.predict_log_proba(c.sparse), of_dense.predict_log_proba(c.dense), c.tolerance));
      of_sparse.partial_fit(c.sparse, beside(kinds() + 4));
      CHECK(of_sparse.classes().size() == 4);
    };
    check(ht::MultinomialNB());
    check(ht::MultinomialNB({.alpha = 0.1, .fit_prior = false}));
    check(ht::BernoulliNB());
    check(ht::BernoulliNB({.binarize = 10}));
    check(ht::BernoulliNB({.binarize = -1}));  // zeros count as present
  });
  auto wrong = counts();
  wrong[40][6] = -2;
  for (const auto& layout : row_layouts({n, width}))
    CHECK_THROWS_WITH(ht::MultinomialNB().fit(sparse_of(wrong, layout), beside(kinds())),
                      Contains("got -2 in row 40, column 6"));
}

TEST_CASE("singular values of sparse rows are those of dense ones", "[ml][sparse]") {
  every_case(counts(), [](const Case& c) {
    ht::TruncatedSVD of_dense({.n_components = 5, .solver = ht::SvdSolver::full});
    of_dense.fit(c.dense);
    for (const auto solver : {ht::SvdSolver::automatic, ht::SvdSolver::gram, ht::SvdSolver::full}) {
      ht::TruncatedSVD of_sparse({.n_components = 5, .solver = solver});
      of_sparse.fit(c.sparse);
      CHECK(near(of_sparse.singular_values(), of_dense.singular_values(), c.tolerance));
      CHECK(near(of_sparse.components(), of_dense.components(), 10 * c.tolerance));
      CHECK(near(of_sparse.explained_variance(), of_dense.explained_variance(), c.tolerance));
      CHECK(near(of_sparse.explained_variance_ratio(), of_dense.explained_variance_ratio(), c.tolerance));
      CHECK(near(of_sparse.transform(c.sparse), of_dense.transform(c.dense), 1e3 * c.tolerance));
    }
    const ht::TruncatedSvdOptions random{.n_components = 5, .solver = ht::SvdSolver::randomized, .oversamples = 4};
    ht::TruncatedSVD one(random), other(random);
    CHECK(near(one.fit(c.sparse).singular_values(), other.fit(c.dense).singular_values(), c.tolerance));
  });
}

TEST_CASE("scalers of sparse rows are those of dense ones, and leave zeros", "[ml][sparse]") {
  const auto x = mostly_zeros(n, width);
  auto full = x.clone();
  full.select(1, 4) = at::arange(n, at::kDouble) + 3;  // a column without zeros
  every_case(full, [](const Case& c) {
    const auto check = [&](auto of_dense, const auto&... fit) {
      auto of_sparse = of_dense;
      const auto expected = of_dense.fit_transform(c.dense, fit...);
      const auto made = of_sparse.fit_transform(c.sparse, fit...);
      CHECK(near(of_sparse.scale(), of_dense.scale(), 1e-12));
      CHECK(near(sp::to_dense(made), expected, c.tolerance));
      CHECK(made.nnz() == c.sparse.nnz());
      CHECK(near(sp::to_dense(of_sparse.inverse_transform(made)), c.dense, c.tolerance));
      CHECK(near(of_sparse.transform(ht::Rows(c.sparse)), expected, c.tolerance));
    };
    check(ht::StandardScaler({.with_mean = false}));
    check(ht::StandardScaler({.with_mean = false}), weighted());
    check(ht::MaxAbsScaler());
    ht::StandardScaler of_dense, of_sparse;
    of_dense.fit(c.dense, weighted());
    of_sparse.fit(c.sparse, weighted());
    CHECK(near(of_sparse.mean(), of_dense.mean(), 1e-12));
    CHECK(near(of_sparse.var(), of_dense.var(), 1e-12));
    CHECK_THROWS_WITH(of_sparse.transform(c.sparse), Contains("shifts columns for a sparse matrix"));
    ht::MinMaxScaler range_of_dense, range_of_sparse;
    CHECK(same(range_of_sparse.fit(c.sparse).data_min(), gathered(range_of_dense.fit(c.dense).data_min())));
    CHECK(same(range_of_sparse.data_max(), gathered(range_of_dense.data_max())));
    for (const auto norm : {ht::RowNorm::l1, ht::RowNorm::l2, ht::RowNorm::max})
      CHECK(near(sp::to_dense(ht::Normalizer({.norm = norm}).transform(c.sparse)), ht::normalize(c.dense, norm),
                 c.tolerance));
  });
  auto missing = mostly_zeros(n, width);
  missing[5][3] = NAN;
  missing[0][6] = NAN;
  every_case(missing, [](const Case& c) {
    ht::StandardScaler of_dense, of_sparse;
    of_dense.fit(c.dense);
    of_sparse.fit(c.sparse);
    CHECK(same(of_sparse.n_samples_seen(), gathered(of_dense.n_samples_seen())));
    CHECK(near(of_sparse.var(), of_dense.var(), 1e-12));
  });
}

TEST_CASE("the nearest of sparse rows by cosine are those of dense ones", "[ml][sparse]") {
  auto x = counts();
  for (std::int64_t i = 0; i < n; ++i) x[i][i % width] += 0.37 * static_cast<double>(i + 1);  // no equal distances
  x[1] = 0;
  every_case(x, [](const Case& c) {
    ht::NearestNeighbors of_dense({.n_neighbors = 4, .radius = 0.3, .metric = ht::Metric::cosine});
    auto of_sparse = of_dense;
    of_dense.fit(c.dense);
    of_sparse.fit(c.sparse);
    // All are nearly at distance 1 from the row of zeros.
    const auto but_zeros = [](const ht::DNDarray& array) {
      const auto all = gathered(array);
      return all.masked_fill(
          at::arange(n, at::kLong).eq(1).view(all.dim() == 1 ? at::IntArrayRef{n} : at::IntArrayRef{n, 1}), 0);
    };
    const auto check = [&](const ht::Neighbors& found, const ht::Neighbors& expected) {
      CHECK(near(found.distances, expected.distances, 1e-6));
      CHECK(equals(but_zeros(found.indices), but_zeros(expected.indices)));
    };
    check(of_sparse.kneighbors(), of_dense.kneighbors());
    check(of_sparse.kneighbors(c.sparse), of_dense.kneighbors(c.dense));
    check(of_sparse.kneighbors(c.dense), of_dense.kneighbors(c.dense));
    check(of_dense.kneighbors(c.sparse), of_dense.kneighbors(c.dense));
    const auto everywhere = sp::resplit(c.sparse, std::nullopt);
    const auto asked = of_sparse.kneighbors(everywhere);
    CHECK_FALSE(asked.indices.split());
    CHECK(near_to(asked.distances, gathered(of_dense.kneighbors(c.dense).distances), 1e-6, 1e-6));
    CHECK(same(of_sparse.radius_neighbors(c.sparse).counts, gathered(of_dense.radius_neighbors(c.dense).counts)));
    ht::KNeighborsClassifier kind_of_dense({.n_neighbors = 3, .metric = ht::Metric::cosine});
    auto kind_of_sparse = kind_of_dense;
    CHECK(equals(but_zeros(kind_of_sparse.fit(c.sparse, beside(kinds())).predict(c.sparse)),
                 but_zeros(kind_of_dense.fit(c.dense, beside(kinds())).predict(c.dense))));
    ht::KNeighborsClassifier euclidean({.n_neighbors = 3}), of_zeros({.n_neighbors = 3});
    CHECK(same(euclidean.fit(c.sparse, beside(kinds())).predict(c.sparse),
               gathered(of_zeros.fit(c.dense, beside(kinds())).predict(c.dense))));
    CHECK_THROWS_WITH(of_sparse.rows(), Contains("got rows of a sparse matrix"));
    const auto graph = ht::kneighbors_graph(c.sparse, 3, {.metric = ht::Metric::cosine});
    CHECK(graph.nnz() == 3 * n);
  });
}

TEST_CASE("estimators that know no sparse rows get them with zeros", "[ml][sparse]") {
  every_case(counts(), [](const Case& c) {
    const auto y = beside(kinds());
    ht::GaussianNB bayes_of_dense, bayes_of_sparse;
    CHECK(same(bayes_of_sparse.fit(c.sparse, y).predict(c.sparse),
               gathered(bayes_of_dense.fit(c.dense, y).predict(c.dense))));
    ht::PCA of_dense({.n_components = 3}), of_sparse({.n_components = 3});
    CHECK(near(of_sparse.fit(c.sparse).explained_variance(), of_dense.fit(c.dense).explained_variance(), c.tolerance));
    CHECK(near(of_sparse.transform(c.sparse), of_dense.transform(c.dense), 1e3 * c.tolerance));
    ht::KMedians median_of_dense({.n_clusters = 3, .seed = 1}), median_of_sparse({.n_clusters = 3, .seed = 1});
    CHECK(same(median_of_sparse.fit(c.sparse).labels(), gathered(median_of_dense.fit(c.dense).labels())));
    ht::DecisionTreeClassifier tree_of_dense({.max_depth = 3}), tree_of_sparse({.max_depth = 3});
    CHECK(same(tree_of_sparse.fit(c.sparse, y).predict(c.sparse),
               gathered(tree_of_dense.fit(c.dense, y).predict(c.dense))));
  });
}

TEST_CASE("whole numbers, empty rows and a part of the ranks", "[ml][sparse]") {
  const auto whole = mostly_zeros(n, width, at::kInt);
  for (const auto& layout : row_layouts({n, width})) {
    ht::KMeans of_dense({.n_clusters = 3, .seed = 5}), of_sparse({.n_clusters = 3, .seed = 5});
    CHECK(same(of_sparse.fit_predict(sparse_of(whole, layout)),
               gathered(of_dense.fit_predict(distribute(whole, layout)))));
    CHECK(of_sparse.centers().dtype() == of_dense.centers().dtype());
    ht::KMeans of_nothing({.n_clusters = 2});
    CHECK(
        same(of_nothing.fit_predict(sparse_of(at::zeros({n, width}, at::kDouble), layout)), at::zeros({n}, at::kLong)));
  }
  const auto half = *ht::world().split(ht::world().rank() % 2);
  const ht::Layout layout({n, width}, 0, half.size());
  const auto mine = counts().slice(0, layout.offset(half.rank()), layout.offset(half.rank() + 1)).contiguous();
  const auto rows = ht::from_local(mine, {.split = 0, .comm = half});
  ht::TruncatedSVD of_dense, of_sparse;
  CHECK(close(of_sparse.fit(sp::from_dense(rows)).singular_values(), gathered(of_dense.fit(rows).singular_values()),
              1e-9));
}

TEST_CASE("what a fit to sparse rows refuses is an error on all ranks", "[ml][sparse]") {
  auto x = counts();
  x[45][9] = INFINITY;
  for (const auto& layout : row_layouts({n, width})) {
    const auto bad = sparse_of(x, layout), good = sparse_of(counts(), layout);
    const auto y = beside(kinds());
    const auto message = Contains("got inf in row 45, column 9");
    CHECK_THROWS_WITH(ht::KMeans({.n_clusters = 2}).fit(bad), message);
    CHECK_THROWS_WITH(ht::LinearRegression().fit(bad, y), message);
    CHECK_THROWS_WITH(ht::Ridge().fit(bad, y), message);
    CHECK_THROWS_WITH(ht::LogisticRegression().fit(bad, y), message);
    CHECK_THROWS_WITH(ht::BernoulliNB().fit(bad, y), message);
    CHECK_THROWS_WITH(ht::TruncatedSVD().fit(bad), message);
    CHECK_THROWS_WITH(ht::MaxAbsScaler().fit(bad), message);
    CHECK_THROWS_WITH(ht::NearestNeighbors({.metric = ht::Metric::cosine}).fit(bad), message);
    CHECK_THROWS_WITH(ht::MultinomialNB().fit(good, y).predict(bad), message);
    auto target = kinds().to(at::kDouble);
    target[50] = NAN;
    CHECK_THROWS_WITH(ht::LinearRegression().fit(good, beside(target)), Contains("not finite in row 50"));
    CHECK_THROWS_WITH(ht::Ridge().fit(good, y).predict(sp::submatrix(good, {}, ht::slice(0, 3))),
                      Contains("got 3 features; expected the 17"));
    CHECK_THROWS_WITH(ht::KMeans({.n_clusters = 62}).fit(good), Contains("62 clusters of 61 rows"));
    CHECK_THROWS_AS(ht::KMeans().fit(sparse_of(counts().to(at::kComplexDouble), layout)), ht::TypeError);
    CHECK_THROWS_WITH(ht::LinearRegression().fit(sp::from_dense(ht::ones({0, 3})), ht::ones({0})),
                      Contains("got 0 rows"));
  }
}

/// Compares with what rows_test.py has computed with scipy's matrices and scikit-learn.
TEST_CASE("sparse rows in scikit-learn", "[.sklearn]") {
  const std::string folder = std::getenv("HEATPP_SPARSE_ROWS");
  const auto x = sp::load(folder + "/x.npz");
  const auto of = [&](const char* name) { return ht::io::load_npy(folder + "/" + name + ".npy", {.split = 0}); };
  const auto y = of("y");
  const auto w = ht::FitOptions{.sample_weight = of("w")};
  const auto agrees = [&](const ht::DNDarray& found, const char* name, double tolerance) {
    INFO(name);
    const auto expected = gathered(of(name));
    CHECK(near_to(gathered(found).to(at::kDouble), expected.to(at::kDouble), tolerance, tolerance));
  };
  const auto centers = ht::resplit(of("centers"), std::nullopt);
  ht::KMeans means({.n_clusters = centers.shape()[0], .init = centers, .tol = 0});
  agrees(means.fit(x, w).centers(), "kmeans", 1e-9);
  agrees(means.labels(), "kmeans_labels", 0);
  agrees(means.transform(x), "kmeans_distances", 1e-7);
  agrees(ht::LinearRegression().fit(x, of("target"), w).predict(x), "linear", 1e-5);
  agrees(ht::Ridge({.alpha = 0.5}).fit(x, of("target"), w).coef(), "ridge", 1e-8);
  agrees(ht::Lasso({.alpha = 0.01, .tol = 1e-10}).fit(x, of("target")).coef(), "lasso", 1e-6);
  agrees(ht::LogisticRegression({.max_iterations = 1000, .tol = 1e-9}).fit(x, y, w).coef(), "logistic", 1e-4);
  agrees(ht::MultinomialNB().fit(x, y, w).predict_log_proba(x), "multinomial", 1e-10);
  agrees(ht::BernoulliNB({.binarize = 1}).fit(x, y, w).predict_log_proba(x), "bernoulli", 1e-10);
  ht::TruncatedSVD svd({.n_components = 6});
  agrees(svd.fit(x).singular_values(), "singular", 1e-10);
  agrees(svd.explained_variance_ratio(), "ratio", 1e-10);
  agrees(ht::abs(svd.components()), "components", 1e-8);
  ht::NearestNeighbors cosine({.n_neighbors = 5, .metric = ht::Metric::cosine});
  agrees(cosine.fit(x).kneighbors().distances, "cosine", 1e-12);
  agrees(ht::KNeighborsClassifier({.n_neighbors = 7, .metric = ht::Metric::cosine}).fit(x, y).predict(x), "voted", 0);
  agrees(sp::to_dense(ht::StandardScaler({.with_mean = false}).fit_transform(x, w)), "standard", 1e-12);
  agrees(sp::to_dense(ht::MaxAbsScaler().fit_transform(x)), "max_abs", 1e-12);
  agrees(sp::to_dense(ht::normalize(x, ht::RowNorm::l1)), "normalized", 1e-12);
}
