#include "../data.hpp"

#include <heatpp/ml/cluster/detail/draw.hpp>
#include <heatpp/ml/cluster/detail/seeding.hpp>
#include <heatpp/ml/cluster/kmeans.hpp>

namespace {

using Catch::Contains;

ht::DNDarray array_of(const at::Tensor& global) {
  return distribute(global, ht::Layout({global.size(0), global.size(1)}, std::nullopt, ht::world().size()));
}

ht::DNDarray centers_at(const at::Tensor& x, std::initializer_list<std::int64_t> rows) {
  return array_of(x.index_select(0, at::tensor(std::vector<std::int64_t>(rows), at::kLong)));
}

std::vector<std::int64_t> sizes(const ht::KMeans& k) {
  const auto counts = at::bincount(gathered(k.labels()), {}, k.options().n_clusters);
  return {counts.data_ptr<std::int64_t>(), counts.data_ptr<std::int64_t>() + counts.numel()};
}

/// Returns the inertia of labels and centers, computed from scratch.
double inertia_of(const at::Tensor& x, const ht::KMeans& k) {
  return (x - gathered(k.centers()).to(at::kDouble).index_select(0, gathered(k.labels())))
      .square()
      .sum()
      .item<double>();
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) { return at::equal(a.view(at::kLong), b.view(at::kLong)); }

}  // namespace

// Expected values are from scikit-learn 1.9.1.
TEST_CASE("k-means from given centers is scikit-learn's for every layout", "[ml][kmeans]") {
  const auto x = iris();
  for (const auto& layout : every_layout({150, 4})) {
    ht::KMeans k({.n_clusters = 3, .init = centers_at(x, {0, 50, 100}), .tol = 0});

    const auto labels = k.fit_predict(distribute(x, layout));

    CHECK(k.inertia() == Approx(78.851441426146).epsilon(1e-12));
    CHECK(k.iterations() == 4);
    CHECK(sizes(k) == std::vector<std::int64_t>{50, 62, 38});
    CHECK(labels.split() == (layout.split() ? std::optional(0) : std::nullopt));
    CHECK(same(k.predict(distribute(x, layout)), gathered(labels)));
    CHECK(near_to(gathered(k.centers())[1],
                  at::tensor({5.901612903225806, 2.748387096774194, 4.393548387096774, 1.433870967741935}, at::kDouble),
                  1e-12, 1e-12));
    CHECK(k.score(distribute(x, layout)) == Approx(-k.inertia()).epsilon(1e-12));
    CHECK(close(k.transform(distribute(x, layout)), at::cdist(x, gathered(k.centers()), 2, 2)));
  }
}

TEST_CASE("weights count as rows, and a cluster without rows takes the farthest one", "[ml][kmeans]") {
  const auto x = iris();
  const auto weight = (at::arange(1, 151, at::kDouble).remainder(5) + 1);
  for (const auto& layout : every_layout({150, 4})) {
    const auto data = distribute(x, layout);
    ht::KMeans from_first({.n_clusters = 3, .init = centers_at(x, {0, 1, 2}), .tol = 0});
    from_first.fit(data);
    CHECK(from_first.inertia() == Approx(78.85566582597727).epsilon(1e-12));
    CHECK(from_first.iterations() == 12);
    CHECK(sizes(from_first) == std::vector<std::int64_t>{39, 61, 50});

    ht::KMeans weighted({.n_clusters = 3, .init = centers_at(x, {0, 50, 100}), .tol = 0});
    weighted.fit(data, {.sample_weight = distribute(weight, ht::Layout({150}, 0, ht::world().size()))});
    CHECK(weighted.inertia() == Approx(248.1999081813576).epsilon(1e-12));
    CHECK(weighted.iterations() == 5);
    CHECK(
        near_to(gathered(weighted.centers())[0], at::tensor({4.97333, 3.41467, 1.44333, .247333}, at::kDouble), 1e-5));

    const auto far = at::cat({x.slice(0, 0, 1), x.slice(0, 50, 51), at::full({1, 4}, 100.0, at::kDouble)});
    ht::KMeans emptied({.n_clusters = 3, .init = array_of(far), .tol = 0});
    emptied.fit(data);
    CHECK(emptied.inertia() == Approx(78.85566582597727).epsilon(1e-12));
    CHECK(emptied.iterations() == 13);
    CHECK(sizes(emptied) == std::vector<std::int64_t>{50, 39, 61});
  }
}

TEST_CASE("k-means of standardised wine is scikit-learn's", "[ml][kmeans]") {
  const auto raw = wine();
  const auto x = (raw - raw.mean(0)) / raw.std(0, /*unbiased=*/false);
  ht::KMeans k({.n_clusters = 3, .init = centers_at(x, {0, 60, 140}), .tol = 0});
  k.fit(even(x));
  CHECK(k.inertia() == Approx(1277.928488844643).epsilon(1e-12));
  CHECK(k.iterations() == 6);
  CHECK(sizes(k) == std::vector<std::int64_t>{62, 65, 51});
}

TEST_CASE("float32 rows far from 0 are clustered as near it", "[ml][kmeans]") {
  const auto x = (iris() + 1e4).to(at::kFloat);
  ht::KMeans far({.n_clusters = 3, .init = centers_at(x, {0, 1, 2}), .tol = 0});
  ht::KMeans wide({.n_clusters = 3, .init = centers_at(x.to(at::kDouble), {0, 1, 2}), .tol = 0});
  for (const auto& layout : every_layout({150, 4})) {
    far.fit(distribute(x, layout));
    wide.fit(distribute(x.to(at::kDouble), layout));
    CHECK(far.centers().dtype() == ht::float32);
    CHECK(same(far.labels(), gathered(wide.labels())));
    CHECK(far.iterations() == wide.iterations());
    CHECK(same(far.predict(distribute(x, layout)), gathered(far.labels())));
  }
}

TEST_CASE("whole numbers have centers that are not whole", "[ml][kmeans]") {
  const auto x = at::tensor({0, 1, 3, 10, 12, 13}, at::kInt).reshape({6, 1});
  ht::KMeans k({.n_clusters = 2, .init = ht::array({{0.0}, {13.0}})});
  for (const auto& layout : every_layout({6, 1})) {
    k.fit(distribute(x, layout));
    CHECK(close(k.centers(), at::tensor({4.0 / 3, 35.0 / 3}, at::kDouble).reshape({2, 1})));
  }
}

TEST_CASE("many clusters and features give the result of a simple computation", "[ml][kmeans]") {
  const auto type = GENERATE(at::kFloat, at::kDouble);
  const auto features = GENERATE(1, 7, 19);
  const auto x = (at::arange(300 * features, at::kDouble) * 0.618).frac().reshape({300, features}).to(type);
  for (const std::int64_t clusters : {1, 5, 8, 9, 33, 300}) {
    ht::KMeans k({.n_clusters = clusters, .init = array_of(x.slice(0, 0, clusters)), .max_iterations = 5});
    const auto before = x.clone();
    k.fit(even(x));
    const auto nearest = at::cdist(x.to(at::kDouble), gathered(k.centers()).to(at::kDouble), 2, 2).min(1);
    const auto chosen =
        (x.to(at::kDouble) - gathered(k.centers()).to(at::kDouble).index_select(0, gathered(k.labels()))).norm(2, 1);
    CHECK((chosen - std::get<0>(nearest)).abs().max().item<double>() < (type == at::kFloat ? 1e-3 : 1e-7));
    CHECK(k.inertia() == Approx(inertia_of(x.to(at::kDouble), k)).epsilon(1e-9).margin(1e-12));
    CHECK(equals(x, before));
  }
}

TEST_CASE("first centers do not depend on the ranks or the layout", "[ml][kmeans]") {
  const auto x = iris();
  for (const auto init : {ht::KMeansInit::plus_plus, ht::KMeansInit::parallel, ht::KMeansInit::random}) {
    ht::KMeans alone({.n_clusters = 3, .init = init, .seed = 5});
    alone.fit(ht::from_local(x, {.comm = ht::self()}));
    for (const auto& layout : every_layout({150, 4})) {
      ht::KMeans k({.n_clusters = 3, .init = init, .seed = 5});
      k.fit(distribute(x, layout));
      CHECK(k.inertia() == Approx(alone.inertia()).epsilon(1e-12));
      CHECK(same(k.labels(), gathered(alone.labels())));
      CHECK(k.iterations() == alone.iterations());
    }
  }
}

TEST_CASE("k-means++ finds the species of iris from nearly any seed", "[ml][kmeans]") {
  const auto x = even(iris());
  int poor = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    poor += ht::KMeans({.n_clusters = 3, .seed = seed}).fit(x).inertia() > 100;
  CHECK(poor <= 8);  // scikit-learn: 90 of 7500 seeds; more than 8 of 200 happens once in 1500 times
  CHECK(ht::KMeans({.n_clusters = 3, .init = ht::KMeansInit::parallel, .n_init = 3}).fit(x).inertia() < 79);
  CHECK(ht::KMeans({.n_clusters = 3, .init = ht::KMeansInit::random, .n_init = 10}).fit(x).inertia() < 79);
}

TEST_CASE("any rows may be the first centers, the last one too, each once", "[ml][kmeans]") {
  const auto x = at::tensor({0.0, 10.0, 20.0, 30.0}, at::kDouble).reshape({4, 1});
  int last = 0, distinct = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    ht::KMeans k({.n_clusters = 4, .init = ht::KMeansInit::random, .seed = seed});
    k.fit(even(x));
    const auto centers = gathered(k.centers()).flatten();
    distinct += std::get<0>(at::_unique(centers)).numel() == 4;
    last += centers[0].item<double>() == 30;
  }
  CHECK(distinct == 60);
  CHECK(last > 4);
}

TEST_CASE("rows without weight are no first centers", "[ml][kmeans]") {
  const auto x = at::tensor({0.0, 1.0, 50.0, 51.0, 1000.0}, at::kDouble).reshape({5, 1});
  const auto weights = ht::array({1.0, 1.0, 1.0, 1.0, 0.0}, {.split = 0});
  for (const auto init : {ht::KMeansInit::plus_plus, ht::KMeansInit::parallel, ht::KMeansInit::random})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      ht::KMeans k({.n_clusters = 2, .init = init, .seed = seed});
      k.fit(even(x), {.sample_weight = weights});
      CHECK(k.inertia() == Approx(1.0));
    }
}

TEST_CASE("equal rows are as many clusters as are asked for, without an error", "[ml][kmeans]") {
  const auto x = at::ones({6, 2}, at::kDouble);
  for (const auto init : {ht::KMeansInit::plus_plus, ht::KMeansInit::parallel, ht::KMeansInit::random})
    CHECK(ht::KMeans({.n_clusters = 3, .init = init}).fit(even(x)).inertia() == 0);
}

TEST_CASE("rows that a function makes are clustered as an array of them", "[ml][kmeans]") {
  const auto x = iris();
  const ht::Layout layout({150, 4}, 0, ht::world().size());
  const auto first = layout.offset(ht::world().rank()), count = layout.count(ht::world().rank());
  ht::KMeans k({.n_clusters = 3, .init = centers_at(x, {0, 50, 100}), .tol = 0});
  k.fit(ht::Rows(count, 4,
                 [&](std::int64_t from, std::int64_t n) { return x.slice(0, first + from, first + from + n); }));
  CHECK(k.inertia() == Approx(78.851441426146).epsilon(1e-12));
  CHECK(k.iterations() == 4);
}

TEST_CASE("every rank gets the progress, and any rank may end the fit", "[ml][kmeans]") {
  const auto x = iris();
  std::vector<double> objectives;
  ht::KMeans k({.n_clusters = 3, .init = centers_at(x, {0, 1, 2}), .tol = 0, .progress = [&](const ht::FitProgress& p) {
                  objectives.push_back(p.objective);
                  return ht::world().rank() + 1 < ht::world().size() || p.done < 3;
                }});
  k.fit(even(x));
  CHECK(k.iterations() == 4);
  CHECK(objectives.size() == (ht::world().rank() + 1 < ht::world().size() ? 4 : 3));  // not called again after false
  CHECK(std::is_sorted(objectives.rbegin(), objectives.rend()));
  CHECK(k.inertia() < objectives.back());
}

TEST_CASE("fits continue from given centers, and forget an earlier fit", "[ml][kmeans]") {
  const auto x = iris();
  ht::KMeans k({.n_clusters = 3, .init = centers_at(x, {0, 1, 2}), .max_iterations = 4, .tol = 0});
  k.fit(even(x));
  ht::KMeans further({.n_clusters = 3, .init = k.centers(), .tol = 0});
  CHECK(further.fit(even(x)).inertia() == Approx(78.85566582597727).epsilon(1e-12));
  CHECK(further.iterations() == 8);
  const auto again = k.inertia();
  CHECK(k.fit(even(x)).inertia() == again);
}

TEST_CASE("a part of the ranks clusters on its own", "[ml][kmeans]") {
  const auto half = *ht::world().split(ht::world().rank() % 2);
  const auto x = iris();
  const ht::Layout layout({150, 4}, 0, half.size());
  const auto mine = x.slice(0, layout.offset(half.rank()), layout.offset(half.rank() + 1)).contiguous();
  for (const auto init : {ht::KMeansInit::plus_plus, ht::KMeansInit::parallel})
    CHECK(ht::KMeans({.n_clusters = 3, .init = init}).fit(ht::from_local(mine, {.split = 0, .comm = half})).inertia() <
          79);
  if (half.size() == ht::world().size()) return;
  const auto of_all = even(x.slice(0, 0, 3));
  CHECK_THROWS_AS(ht::KMeans({.n_clusters = 3, .init = of_all}).fit(ht::from_local(mine, {.split = 0, .comm = half})),
                  ht::CommError);
}

TEST_CASE("bad rows are errors on all ranks, and name the first one", "[ml][kmeans]") {
  auto x = iris();
  x[120][2] = NAN;
  x[140][1] = INFINITY;
  for (const auto& layout : every_layout({150, 4}))
    CHECK_THROWS_WITH(ht::KMeans({.n_clusters = 3}).fit(distribute(x, layout)),
                      Contains("got nan in row 120, column 2"));
  const auto good = even(iris());
  CHECK_THROWS_WITH(ht::KMeans({.n_clusters = 151}).fit(good), Contains("got 151 clusters of 150 rows"));
  CHECK_THROWS_WITH(ht::KMeans().labels(), Contains("expected a call of fit"));
  CHECK_THROWS_AS(ht::KMeans().predict(good), ht::NotFittedError);
  CHECK_THROWS_WITH(ht::KMeans({.n_clusters = 2, .init = ht::ones({2, 3})}).fit(good), Contains("expected (2, 4)"));
  CHECK_THROWS_WITH(ht::KMeans({.n_clusters = 2}).fit(good).predict(ht::ones({4, 2})), Contains("got 2 features"));
  CHECK_THROWS_WITH(ht::KMeans().fit(ht::ones({40}, {.split = 0})), Contains("expected (samples, features)"));
  CHECK_THROWS_WITH(ht::KMeans().fit(good, {.sample_weight = ht::full({150}, -1.0)}), Contains("negative"));
  CHECK_THROWS_WITH(ht::KMeans().fit(good, {.sample_weight = ht::ones({149})}),
                    Contains("expected one number for each"));
}

TEST_CASE("rows are drawn by their mass, with a number of each rank and with places in the whole", "[ml][kmeans]") {
  const std::array parts{0.001, 0.253, 0.511, 0.77, 0.999};
  for (const auto& layout : every_layout({150, 4})) {
    if (layout.split() != 0) continue;
    const ht::Rows rows(distribute(iris(), layout));
    std::vector<double> masses;
    for (std::int64_t row = 0; row < rows.count(); ++row)
      masses.push_back(static_cast<double>((rows.first() + row) % 7));

    auto drawn = ht::ml::detail::drawn(rows, masses, parts),
         by_place = ht::ml::detail::drawn_by_place(rows, masses, parts);

    std::vector<std::int64_t> owners;
    for (const auto row : by_place) owners.push_back(row >= 0);
    ht::world().allreduce(owners);
    CHECK(owners == std::vector<std::int64_t>(parts.size(), 1));
    ht::world().allreduce(drawn, ht::ReduceOp::max);
    ht::world().allreduce(by_place, ht::ReduceOp::max);
    CHECK(by_place == drawn);
    CHECK(by_place == std::vector<std::int64_t>{1, 39, 76, 115, 149});
    const std::vector<double> nothing(masses.size());
    CHECK(ht::ml::detail::drawn_by_place(rows, nothing, parts) == std::vector<std::int64_t>{0, 37, 76, 115, 149});
  }
}

TEST_CASE("rows that ranks choose are gathered in rank order, by counts and by places", "[ml][kmeans]") {
  const auto& comm = ht::world();
  const auto x = iris().to(at::kDouble);
  for (const auto& layout : every_layout({150, 4})) {
    const ht::Rows rows(distribute(x, layout));
    for (const std::int64_t each : {0, 1, 7}) {
      // Every each-th row of the whole joins, with bits that no sum of numbers keeps.
      const auto chosen_of = [&](const at::Tensor& from) {
        auto some = each == 0 ? from.slice(0, 0, 0) : from.slice(0, 0, from.size(0), each);
        return at::where(some == 0.2, at::full({}, -0.0, at::kDouble), some).contiguous();
      };
      at::Tensor mine, expected;
      if (rows.distributed()) {
        std::vector<at::Tensor> all;
        for (int rank = 0; rank < comm.size(); ++rank) {
          const auto first = layout.offset(rank);
          all.push_back(chosen_of(x.slice(0, first, first + layout.count(rank))));
        }
        expected = at::cat(all);
        mine = all[static_cast<std::size_t>(comm.rank())];
        CHECK(same_bits(ht::ml::detail::rows_by_place(mine, comm), expected));
      } else {
        mine = expected = chosen_of(x);
      }
      CHECK(same_bits(ht::ml::detail::gathered_rows(rows, [&] { return mine; }), expected));
    }
  }
}
