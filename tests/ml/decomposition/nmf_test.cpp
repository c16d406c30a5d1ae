#include "../data.hpp"

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ml/decomposition/nmf.hpp>

namespace {

using Catch::Contains;
using ht::NmfInit;
using ht::NmfSolver;

/// Results of scikit-learn.
struct Case {
  bool wine;
  NmfSolver solver;
  NmfInit init;
  std::int64_t iterations;
  double error;
  at::Tensor component, coordinates, transformed;  // the first row of each
  double sum;                                      // over all coordinates
};

std::vector<Case> cases() {
  using enum NmfSolver;
  return {{false, coordinate_descent, NmfInit::nndsvd, 200, 3.943476664111849,
           numbers({5.755408355491, 2.315867400473, 5.268354455896, 1.889791269397}),
           numbers({0.106669479281, 1.324416706278}), numbers({0.107038032414, 1.323709149207}), 192.11064195309757},
          {false, coordinate_descent, NmfInit::nndsvda, 200, 3.9433227514521456,
           numbers({11.055479828603, 7.968284494428, 2.229114067828, 0.070516289697}),
           numbers({0.413562294327, 0.104576175713}), numbers({0.413499665759, 0.104673009869}), 138.45632270164262},
          {false, multiplicative, NmfInit::nndsvd, 80, 5.941844105615221,
           numbers({6.72809244448, 3.065011586795, 5.345224605975, 1.797436376943}),
           numbers({0.248304635892, 0.762680474205}), numbers({0.248342907325, 0.762602770271}), 142.53567901967074},
          {false, multiplicative, NmfInit::nndsvda, 50, 3.9587987009076473,
           numbers({10.493676139078, 7.355523766327, 2.540864490145, 0.274618983747}),
           numbers({0.472158736271, 0.048432040334}), numbers({0.469673440802, 0.057241402749}), 156.36886672749287},
          {true, coordinate_descent, NmfInit::nndsvd, 200, 40.668720224635265,
           numbers({0.885517353583, 0.095096561147, 0.150207495343, 0.848069389435}),
           numbers({10.238604619482, 1.608510127057, 0.075974075159}),
           numbers({10.238594978087, 1.608610979577, 0.075985060803}), 1589.3756101609824},
          {true, multiplicative, NmfInit::nndsvda, 30, 75.62162971483671,
           numbers({1.489166829597, 0.281721385548, 0.259604854216, 1.833078994028}),
           numbers({8.794580401326, 0.028096501159, 0.595448474336}),
           numbers({5.32115899712, 5.358995943745, 0.73423291668}), 1473.7842640466183}};
}

}  // namespace

TEST_CASE("factors without negative numbers are scikit-learn's, for every layout", "[ml][nmf]") {
  for (const auto& expected : cases()) {
    const auto global = expected.wine ? wine() : iris();
    for (const auto& layout : every_layout({global.size(0), global.size(1)})) {
      ht::NMF nmf({.n_components = expected.wine ? 3 : 2, .init = expected.init, .solver = expected.solver});
      const auto x = distribute(global, layout);

      const auto w = nmf.fit_transform(x);

      CHECK(nmf.iterations() == expected.iterations);
      CHECK(nmf.reconstruction_error() == Approx(expected.error).epsilon(1e-7));
      const auto h = gathered(nmf.components()), all = gathered(w);
      CHECK(near_to(h[0].slice(0, 0, 4), expected.component, 1e-5, 1e-7));
      CHECK(near_to(all[0], expected.coordinates, 1e-5, 1e-7));
      CHECK(all.sum().item<double>() == Approx(expected.sum).epsilon(1e-6));
      CHECK((global - at::mm(all, h)).norm().item<double>() == Approx(nmf.reconstruction_error()).epsilon(1e-12));
      CHECK(std::min(all.min().item<double>(), h.min().item<double>()) >= 0);
      CHECK(near_to(gathered(nmf.transform(x))[0], expected.transformed, 1e-4, 1e-6));
      CHECK(close(nmf.inverse_transform(w), at::mm(all, h), 1e-12));
      CHECK(w.split() == (layout.split() ? std::optional(0) : std::nullopt));
      CHECK(same(x, global));
    }
  }
}

TEST_CASE("penalties make coordinates small, as in scikit-learn", "[ml][nmf]") {
  for (const auto& layout : every_layout({150, 4})) {
    ht::NMF by_coordinates({.n_components = 2,
                            .init = NmfInit::nndsvd,
                            .tol = 1e-6,
                            .max_iterations = 1000,
                            .alpha_w = 0.01,
                            .alpha_h = 0.02,
                            .l1_ratio = 0.5});
    const auto w = gathered(by_coordinates.fit_transform(distribute(iris(), layout)));
    CHECK(by_coordinates.reconstruction_error() == Approx(3.965835631105772).epsilon(1e-6));
    CHECK(near_to(gathered(by_coordinates.components())[0],
                  numbers({1.737513719859, 0.584430186369, 1.845561891321, 0.675769782069}), 1e-4));
    CHECK(w.sum().item<double>() == Approx(494.944104610474).epsilon(1e-5));
    ht::NMF by_factors({.n_components = 2,
                        .init = NmfInit::nndsvd,
                        .solver = NmfSolver::multiplicative,
                        .tol = 1e-6,
                        .max_iterations = 1000,
                        .alpha_w = 0.01,
                        .l1_ratio = 0.5});
    by_factors.fit(distribute(iris(), layout));
    CHECK(by_factors.reconstruction_error() == Approx(5.948976452030787).epsilon(1e-6));
    CHECK(by_factors.iterations() == 450);
  }
}

TEST_CASE("random starts are the same for every layout, and products of few factors are found", "[ml][nmf]") {
  const auto w = at::arange(60, at::kDouble).reshape({20, 3}).mul(0.618).frac(),
             h = at::arange(15, at::kDouble).reshape({3, 5}).mul(0.414).frac();
  const auto x = at::mm(w, h);
  std::optional<at::Tensor> first;
  for (const auto solver : {NmfSolver::coordinate_descent, NmfSolver::multiplicative}) {
    first.reset();
    for (const auto& layout : every_layout({20, 5})) {
      ht::NMF nmf({.n_components = 3,
                   .init = NmfInit::random,
                   .solver = solver,
                   .tol = 1e-9,
                   .max_iterations = 3000,
                   .seed = 3});
      nmf.fit(distribute(x, layout));
      CHECK(nmf.reconstruction_error() < 0.01 * x.norm().item<double>());
      if (first) CHECK(close(nmf.components(), *first, 1e-5));
      first = gathered(nmf.components());
    }
  }
  // More components than features start at random.
  ht::NMF many({.n_components = 7});
  CHECK(many.fit_transform(even(x)).shape() == ht::Shape{20, 7});
  CHECK(ht::NMF().fit(even(x)).components().shape() == ht::Shape{5, 5});
}

TEST_CASE("float32, whole numbers, zeros and fewer rows than ranks", "[ml][nmf]") {
  ht::NMF of_floats({.n_components = 2}), of_doubles({.n_components = 2});
  const auto w = of_floats.fit_transform(even((iris() + 1e4).to(at::kFloat)));
  of_doubles.fit(even((iris() + 1e4).to(at::kFloat).to(at::kDouble)));
  CHECK(w.dtype() == ht::float32);
  CHECK(of_floats.components().dtype() == ht::float32);
  CHECK(of_floats.reconstruction_error() == Approx(of_doubles.reconstruction_error()).epsilon(1e-5));
  const auto counts = at::tensor({3, 0, 1, 0, 0, 0, 6, 0, 2}, at::kLong).reshape({3, 3});
  for (const auto& layout : every_layout({3, 3})) {
    ht::NMF nmf({.n_components = 1});
    const auto made = nmf.inverse_transform(nmf.fit_transform(distribute(counts, layout)));
    CHECK(near_to(made, counts.to(at::kDouble), 1e-3, 1e-3));
    ht::NMF none({.n_components = 2});
    CHECK(gathered(none.fit_transform(distribute(counts * 0, layout))).sum().item<double>() == 0);
    CHECK(none.reconstruction_error() == 0);
  }
}

TEST_CASE("a fit of factors ends if its callback asks", "[ml][nmf]") {
  std::vector<double> errors;
  ht::NMF nmf({.n_components = 2, .progress = [&](const ht::FitProgress& p) {
                 errors.push_back(p.objective);
                 return p.done < 4 || ht::world().rank() > 0;
               }});
  nmf.fit(even(iris()));
  CHECK(nmf.iterations() == 5);
  CHECK(std::is_sorted(errors.rbegin(), errors.rend()));
}

TEST_CASE("negative numbers, bad ones and bad options are errors on all ranks", "[ml][nmf]") {
  const auto x = even(iris());
  CHECK_THROWS_WITH(ht::NMF({.n_components = 5, .init = NmfInit::nndsvd}).fit(x), Contains("got 5 components of 150"));
  CHECK_THROWS_AS(ht::NMF({.n_components = 0}).fit(x), ht::ValueError);
  CHECK_THROWS_AS(ht::NMF({.max_iterations = 0}).fit(x), ht::ValueError);
  CHECK_THROWS_AS(ht::NMF({.alpha_w = -1}).fit(x), ht::ValueError);
  CHECK_THROWS_AS(ht::NMF({.l1_ratio = 2}).fit(x), ht::ValueError);
  CHECK_THROWS_AS(ht::NMF().fit(ht::ones({0, 3})), ht::ValueError);
  CHECK_THROWS_AS(ht::NMF().transform(x), ht::NotFittedError);
  ht::NMF nmf({.n_components = 2});
  nmf.fit(x);
  CHECK_THROWS_AS(nmf.transform(even(wine())), ht::ValueError);
  auto negative = iris(), bad = iris();
  negative[77][2] = -0.5;
  bad[78][1] = NAN;
  for (const auto& layout : every_layout({150, 4})) {
    CHECK_THROWS_WITH(ht::NMF().fit(distribute(negative, layout)), Contains("[NMF.fit] got -0.5 in row 77"));
    CHECK_THROWS_WITH(nmf.transform(distribute(negative, layout)), Contains("[NMF.transform] got -0.5 in row 77"));
    CHECK_THROWS_WITH(ht::NMF().fit(distribute(bad, layout)), Contains("got nan in row 78, column 1"));
  }
}

TEST_CASE("some of the ranks factor without the others", "[ml][nmf]") {
  const auto half = *ht::world().split(ht::world().rank() % 2);
  const auto whole = ht::detail::wrap(iris(), ht::Layout({150, 4}, std::nullopt, half.size()), half);
  ht::NMF nmf({.n_components = 2, .init = NmfInit::nndsvd});
  nmf.fit(ht::resplit(whole, 0));
  CHECK(nmf.reconstruction_error() == Approx(3.943476664111849).epsilon(1e-7));
}
