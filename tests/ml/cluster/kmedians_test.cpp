#include "../data.hpp"

#include <heatpp/ml/cluster/kmedians.hpp>

namespace {

using Catch::Contains;

at::Tensor rows_of(const at::Tensor& x, std::vector<std::int64_t> rows) {
  return x.index_select(0, at::tensor(rows, at::kLong));
}

at::Tensor median_of(const at::Tensor& rows) {
  const auto sorted = std::get<0>(rows.sort(0));
  return (sorted[(rows.size(0) - 1) / 2] + sorted[rows.size(0) / 2]) / 2;
}

/// Computes medians and their clusters in turn, while labels change.
struct Plain {
  at::Tensor centers, labels;
  double inertia = 0;
};
Plain plain_medians(const at::Tensor& x, at::Tensor centers) {
  at::Tensor labels;
  for (int step = 0; step < 100; ++step) {
    const auto found = at::cdist(x, centers, 1).argmin(1);
    if (labels.defined() && at::equal(labels, found)) break;
    labels = found;
    for (std::int64_t c = 0; c < centers.size(0); ++c) centers[c].copy_(median_of(x.index({labels == c})));
  }
  return {centers, labels, (x - centers.index_select(0, labels)).abs().sum().item<double>()};
}

std::set<std::vector<double>> set_of_rows(const at::Tensor& x) {
  std::set<std::vector<double>> rows;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const auto row = x[i].to(at::kDouble).contiguous();
    rows.emplace(row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
  }
  return rows;
}

}  // namespace

TEST_CASE("k-medians from given centers are a plain computation's for every layout", "[ml][kmedians]") {
  for (const auto& whole : {iris(), wine()})
    for (const auto type : {at::kDouble, at::kFloat}) {
      const auto x = whole.to(type).to(at::kDouble), start = rows_of(x, {0, 60, 120});
      const auto expected = plain_medians(x, start.clone());
      for (const auto& layout : every_layout({x.size(0), x.size(1)})) {
        ht::KMedians k({.n_clusters = 3, .init = on_all(start), .tol = 0});
        const auto rows = distribute(whole.to(type), layout);
        const auto labels = k.fit_predict(rows);
        CHECK(same(labels, expected.labels));
        CHECK(close(k.centers(), expected.centers.to(type), type == at::kFloat ? 1e-6 : 1e-14));
        CHECK(k.inertia() == Approx(expected.inertia).epsilon(type == at::kFloat ? 1e-6 : 1e-12));
        CHECK(same(k.predict(rows), gathered(labels)));
        CHECK(k.score(rows) == Approx(-k.inertia()).epsilon(1e-12));
        CHECK(close(k.transform(rows), at::cdist(whole.to(type), gathered(k.centers()), 1), 1e-5));
      }
    }
}

TEST_CASE("medians are exact for any numbers", "[ml][kmedians]") {
  const auto check = [](const at::Tensor& x, const at::Tensor& expected) {
    for (const auto& layout : every_layout({x.size(0), x.size(1)})) {
      ht::KMedians k({.n_clusters = 1});
      k.fit(distribute(x, layout));
      CHECK(equals(gathered(k.centers()).to(at::kDouble), expected));
    }
  };
  // Rows of zeros count; medians of whole numbers may lie between them; zeros have no sign.
  check(at::tensor({0.0, 0.0, 0.0, 0.0, 1.0}, at::kDouble).reshape({5, 1}), at::zeros({1, 1}, at::kDouble));
  check(at::tensor({3, -4, 8, 5}, at::kInt).reshape({4, 1}), at::full({1, 1}, 4, at::kDouble));
  check(at::tensor({-0.0, 0.0, -1.0, 1.0}, at::kDouble).reshape({4, 1}), at::zeros({1, 1}, at::kDouble));
  check(at::tensor({-1e-300, 1e300, -1e300, 5e-324, 2.0}, at::kDouble).reshape({5, 1}),
        at::full({1, 1}, 5e-324, at::kDouble));
  for (const std::int64_t f : {1, 7, 300, 5000}) {
    const auto x = (at::arange(21 * f, at::kDouble) * 0.618).frac().reshape({21, f}) - 0.5;
    check(x, median_of(x).unsqueeze(0));
    check(x.to(at::kFloat), median_of(x.to(at::kFloat)).unsqueeze(0).to(at::kDouble));
  }
}

TEST_CASE("weights count as rows in medians and medoids", "[ml][kmedians]") {
  const auto x = iris(), w = weights(150);
  const auto repeated = x.repeat_interleave(w.to(at::kLong), 0), start = rows_of(x, {0, 60, 120});
  const auto compare = [&](auto model, auto whole) {
    whole.fit(even(repeated));
    for (const auto& layout : every_layout({150, 4})) {
      model.fit(distribute(x, layout), {.sample_weight = beside(w)});
      CHECK(same(model.centers(), gathered(whole.centers())));
      CHECK(model.inertia() == Approx(whole.inertia()).epsilon(1e-12));
    }
  };
  const ht::KMeansOptions options{.n_clusters = 3, .init = on_all(start), .tol = 0};
  compare(ht::KMedians(options), ht::KMedians(options));
  compare(ht::KMedoids(options), ht::KMedoids(options));
}

TEST_CASE("medoids are rows of their own clusters, and get better", "[ml][kmedians]") {
  for (const auto& x : {iris(), wine(), iris().to(at::kFloat)})
    for (const auto& layout : every_layout({x.size(0), x.size(1)})) {
      std::vector<double> objectives;
      ht::KMedoids k({.n_clusters = 3, .tol = 0, .progress = [&](const ht::FitProgress& p) {
                        objectives.push_back(p.objective);
                        return true;
                      }});
      const auto labels = gathered(k.fit_predict(distribute(x, layout)));
      const auto centers = gathered(k.centers());
      for (std::int64_t c = 0; c < 3; ++c)
        CHECK(set_of_rows(x.index({labels == c})).contains(*set_of_rows(centers.slice(0, c, c + 1)).begin()));
      CHECK(same(k.predict(distribute(x, layout)), labels));
      CHECK(k.inertia() ==
            Approx((x - centers.index_select(0, labels)).abs().to(at::kDouble).sum().item<double>()).epsilon(1e-6));
      CHECK(std::is_sorted(objectives.rbegin(), objectives.rend()));
      CHECK(k.inertia() <= objectives.back() * (1 + 1e-12));
      CHECK(k.iterations() < 50);
    }
  // Given places that are not rows are replaced at once.
  ht::KMedoids given({.n_clusters = 2, .init = ht::array({{-1.0}, {50.0}})});
  given.fit(even(at::tensor({0.0, 1.0, 2.0, 10.0, 12.0}, at::kDouble).reshape({5, 1})));
  CHECK(close(given.centers(), at::tensor({1.0, 12.0}, at::kDouble).reshape({2, 1})));
}

TEST_CASE("a cluster that loses all rows takes the one farthest away", "[ml][kmedians]") {
  const auto x = at::tensor({0.0, 1.0, 2.0, 3.0, 40.0}, at::kDouble).reshape({5, 1});
  const auto start = at::tensor({1.0, 1000.0}, at::kDouble).reshape({2, 1});
  for (const auto& layout : every_layout({5, 1})) {
    ht::KMedians k({.n_clusters = 2, .init = on_all(start), .tol = 0});
    k.fit(distribute(x, layout));
    CHECK(close(k.centers(), at::tensor({1.5, 40.0}, at::kDouble).reshape({2, 1})));
    CHECK(k.inertia() == 4);
    ht::KMedoids m({.n_clusters = 2, .init = on_all(start), .tol = 0});
    m.fit(distribute(x, layout));
    CHECK(close(m.centers(), at::tensor({1.0, 40.0}, at::kDouble).reshape({2, 1})));
    CHECK(m.inertia() == 4);
  }
}

TEST_CASE("float32 rows far from 0 have the medians that they have near it", "[ml][kmedians]") {
  const auto x = (iris() + 1e4).to(at::kFloat), start = rows_of(x, {0, 60, 120});
  const auto expected = plain_medians(x.to(at::kDouble), start.to(at::kDouble));
  for (const auto& layout : every_layout({150, 4})) {
    ht::KMedians k({.n_clusters = 3, .init = on_all(start), .tol = 0});
    k.fit(distribute(x, layout));
    CHECK(same(k.labels(), expected.labels));
    CHECK(same(k.centers(), expected.centers.to(at::kFloat)));
  }
}

TEST_CASE("medians and medoids do not depend on the ranks, from any start", "[ml][kmedians]") {
  const auto x = iris();
  const auto compare = [&](auto alone) {
    auto model = alone;
    alone.fit(ht::from_local(x, {.comm = ht::self()}));
    for (const auto& layout : every_layout({150, 4})) {
      model.fit(distribute(x, layout));
      CHECK(same(model.labels(), gathered(alone.labels())));
      CHECK(same(model.centers(), gathered(alone.centers())));
      CHECK(model.iterations() == alone.iterations());
    }
  };
  for (const auto init : {ht::KMeansInit::plus_plus, ht::KMeansInit::parallel, ht::KMeansInit::random}) {
    compare(ht::KMedians({.n_clusters = 3, .init = init, .n_init = 2, .seed = 5}));
    compare(ht::KMedoids({.n_clusters = 3, .init = init, .n_init = 2, .seed = 5}));
  }
}

TEST_CASE("any rank may end the search for medians, and a part of the ranks has its own", "[ml][kmedians]") {
  ht::KMedians k({.n_clusters = 3, .init = on_all(rows_of(iris(), {0, 1, 2})), .tol = 0, .progress = [](const auto& p) {
                    return ht::world().rank() + 1 < ht::world().size() || p.done < 2;
                  }});
  CHECK(k.fit(even(iris())).iterations() == 3);
  const auto half = *ht::world().split(ht::world().rank() % 2);
  const ht::Layout layout({150, 4}, 0, half.size());
  const auto mine = iris().slice(0, layout.offset(half.rank()), layout.offset(half.rank() + 1)).contiguous();
  const auto rows = ht::from_local(mine, {.split = 0, .comm = half});
  CHECK(ht::KMedians({.n_clusters = 3, .n_init = 3}).fit(rows).inertia() < 200);
  CHECK(ht::KMedoids({.n_clusters = 3, .n_init = 3}).fit(rows).inertia() < 200);
}

TEST_CASE("bad rows of medians are errors on all ranks", "[ml][kmedians]") {
  auto x = iris();
  x[120][2] = NAN;
  for (const auto& layout : every_layout({150, 4})) {
    CHECK_THROWS_WITH(ht::KMedians({.n_clusters = 3}).fit(distribute(x, layout)),
                      Contains("[KMedians.fit] got nan in row 120, column 2"));
    CHECK_THROWS_WITH(ht::KMedoids({.n_clusters = 3}).fit(distribute(x, layout)),
                      Contains("[KMedoids.fit] got nan in row 120, column 2"));
  }
  const auto good = even(iris());
  CHECK_THROWS_WITH(ht::KMedians({.n_clusters = 151}).fit(good), Contains("got 151 clusters of 150 rows"));
  CHECK_THROWS_AS(ht::KMedoids().predict(good), ht::NotFittedError);
  CHECK_THROWS_WITH(ht::KMedians({.n_clusters = 2, .init = ht::ones({2, 3})}).fit(good), Contains("expected (2, 4)"));
  CHECK_THROWS_WITH(ht::KMedians({.n_clusters = 2}).fit(good).predict(ht::ones({4, 2})), Contains("got 2 features"));
}
