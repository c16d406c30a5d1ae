#include "../data.hpp"

#include <heatpp/ml/preprocessing/scalers.hpp>

namespace {

using Catch::Contains;

double sum_of(const ht::DNDarray& z) { return gathered(z).to(at::kDouble).sum().item<double>(); }
double squares_of(const ht::DNDarray& z) { return gathered(z).to(at::kDouble).square().sum().item<double>(); }

/// Rows with a missing number in each of the first columns, and only missing numbers in the last one.
at::Tensor with_gaps() {
  auto x = iris().slice(0, 0, 30).clone();
  x[3][0] = NAN;
  x[29][1] = NAN;
  return at::cat({x, at::full({30, 1}, NAN, at::kDouble)}, 1);
}

at::Tensor column_mean(const at::Tensor& x) { return x.nanmean(0); }
at::Tensor column_var(const at::Tensor& x) { return (x - x.nanmean(0)).square().nanmean(0); }

}  // namespace

// Expected sums and sums of squares are from scikit-learn 1.9.1.
TEST_CASE("scaled wine is scikit-learn's for every layout", "[ml][scalers]") {
  for (const auto& layout : every_layout({178, 13})) {
    const auto x = distribute(wine(), layout);

    const auto standard = ht::StandardScaler().fit_transform(x);
    const auto min_max = ht::MinMaxScaler().fit_transform(x);
    const auto max_abs = ht::MaxAbsScaler().fit_transform(x);
    const auto robust = ht::RobustScaler().fit_transform(x);
    const auto unit = ht::Normalizer().fit_transform(x);

    CHECK(std::abs(sum_of(standard)) < 1e-9);
    CHECK(squares_of(standard) == Approx(2314).epsilon(1e-11));
    CHECK(sum_of(min_max) == Approx(945.2489516).epsilon(1e-9));
    CHECK(squares_of(min_max) == Approx(494.9756914).epsilon(1e-9));
    CHECK(sum_of(max_abs) == Approx(1300.7850640).epsilon(1e-9));
    CHECK(squares_of(max_abs) == Approx(831.8208202).epsilon(1e-9));
    CHECK(sum_of(robust) == Approx(101.1119264).epsilon(1e-9));
    CHECK(squares_of(robust) == Approx(1183.4431289).epsilon(1e-9));
    CHECK(sum_of(unit) == Approx(216.8388274).epsilon(1e-9));
    CHECK(squares_of(unit) == Approx(178).epsilon(1e-11));
    for (const auto& z : {standard, min_max, max_abs, robust, unit})
      CHECK(z.split() == (layout.split() ? std::optional(0) : std::nullopt));
  }
}

TEST_CASE("scaled rows are scaled back", "[ml][scalers]") {
  const auto x = wine();
  for (const auto& layout : every_layout({178, 13})) {
    const auto rows = distribute(x, layout);
    const auto back = [&](auto scaler) { return scaler.inverse_transform(scaler.fit_transform(rows)); };
    CHECK(close(back(ht::StandardScaler()), x));
    CHECK(close(back(ht::MinMaxScaler({.low = -1, .high = 3})), x));
    CHECK(close(back(ht::MaxAbsScaler()), x));
    CHECK(close(back(ht::RobustScaler({.quantile_range = {10, 80}, .unit_variance = true})), x));
  }
}

TEST_CASE("successive parts of the rows give the state of all at once", "[ml][scalers]") {
  const auto x = wine();
  ht::StandardScaler standard;
  ht::MinMaxScaler min_max;
  ht::MaxAbsScaler max_abs;
  for (const auto& part : {x.slice(0, 0, 1), x.slice(0, 1, 100), x.slice(0, 100, 178)}) {
    standard.partial_fit(even(part));
    min_max.partial_fit(even(part));
    max_abs.partial_fit(even(part));
  }
  CHECK(close(standard.mean(), x.mean(0)));
  CHECK(close(standard.var(), x.var(0, /*unbiased=*/false)));
  CHECK(close(standard.n_samples_seen(), at::full({13}, 178.0, at::kDouble)));
  CHECK(close(min_max.data_min(), std::get<0>(x.min(0))));
  CHECK(close(min_max.data_max(), std::get<0>(x.max(0))));
  CHECK(close(max_abs.max_abs(), std::get<0>(x.abs().max(0))));
}

TEST_CASE("NaN is left out and stays, also in a column of NaN only", "[ml][scalers]") {
  const auto x = with_gaps();
  for (const auto& layout : every_layout({30, 5})) {
    const auto rows = distribute(x, layout);
    ht::StandardScaler standard;
    const auto z = standard.fit_transform(rows);
    CHECK(close(standard.mean(), column_mean(x)));
    CHECK(close(standard.var(), column_var(x)));
    CHECK(close(standard.n_samples_seen(), at::tensor({29.0, 29.0, 30.0, 30.0, 0.0}, at::kDouble)));
    CHECK(equals(gathered(z).isnan(), x.isnan()));
    ht::MinMaxScaler min_max;
    CHECK(equals(gathered(min_max.fit_transform(rows)).isnan(), x.isnan()));
    CHECK(close(min_max.data_max(),
                std::get<0>(at::where(x.isnan(), -INFINITY, x).max(0)).index_fill(0, at::tensor({4}, at::kLong), NAN)));
    ht::RobustScaler robust;
    robust.fit(rows);
    CHECK(close(robust.center(), at::nanquantile(x, 0.5, 0)));
    CHECK(close(robust.scale(), at::nanquantile(x, 0.75, 0) - at::nanquantile(x, 0.25, 0)));
  }
}

TEST_CASE("weights count as rows for the standard scaler", "[ml][scalers]") {
  const auto x = wine();
  const auto weights = at::arange(178, at::kDouble).remainder(3);
  const auto repeated = x.repeat_interleave(weights.to(at::kLong), 0);
  ht::StandardScaler scaler;
  scaler.fit(even(x), {.sample_weight = distribute(weights, ht::Layout({178}, 0, ht::world().size()))});
  CHECK(close(scaler.mean(), repeated.mean(0)));
  CHECK(close(scaler.var(), repeated.var(0, /*unbiased=*/false), 1e-11));
}

TEST_CASE("float32 rows far from 0 keep their spread, small and constant columns too", "[ml][scalers]") {
  const auto x = (iris() + 1e4).to(at::kFloat);
  const auto wide = x.to(at::kDouble);
  for (const auto& layout : every_layout({150, 4})) {
    ht::StandardScaler scaler;
    const auto z = scaler.fit_transform(distribute(x, layout));
    CHECK(z.dtype() == ht::float32);
    CHECK(close(scaler.mean(), wide.mean(0)));
    CHECK(close(scaler.var(), wide.var(0, false), 1e-9));
    CHECK(near_to(gathered(z).to(at::kDouble), (wide - wide.mean(0)) / wide.std(0, false), 1e-6, 1e-6));
  }
  const auto small = at::cat({iris() * 1e-9, at::full({150, 1}, 0.1, at::kDouble)}, 1);
  ht::StandardScaler scaler;
  const auto z = gathered(scaler.fit_transform(even(small)));
  CHECK(near_to(z.slice(1, 0, 4).var(0, false), at::ones({4}, at::kDouble)));
  CHECK(z.select(1, 4).abs().max().item<double>() < 1e-12);
  CHECK(gathered(scaler.scale())[4].item<double>() == 1);
}

TEST_CASE("options are followed: no mean, no deviation, clipped, other norms", "[ml][scalers]") {
  const auto x = iris();
  const auto rows = even(x);
  CHECK(close(ht::StandardScaler({.with_mean = false}).fit_transform(rows), x / x.std(0, false)));
  CHECK(close(ht::StandardScaler({.with_std = false}).fit_transform(rows), x - x.mean(0)));
  CHECK(close(ht::StandardScaler({.with_mean = false, .with_std = false}).fit_transform(rows), x));
  CHECK(close(ht::RobustScaler({.with_centering = false, .with_scaling = false}).fit_transform(rows), x));
  ht::MinMaxScaler clipped({.low = 2, .high = 3, .clip = true});
  const auto z = gathered(clipped.fit(rows).transform(even(x * 2 - 4)));
  CHECK(z.min().item<double>() == 2);
  CHECK(z.max().item<double>() == 3);
  CHECK(close(ht::normalize(rows, ht::RowNorm::l1), x / x.abs().sum(1, true)));
  CHECK(close(ht::normalize(rows, ht::RowNorm::max), x / x.abs().amax(1, true)));
  CHECK(close(ht::normalize(even(at::zeros({3, 2}, at::kDouble))), at::zeros({3, 2}, at::kDouble)));
}

TEST_CASE("whole numbers are scaled as float64 ones", "[ml][scalers]") {
  const auto x = (iris() * 10).round().to(at::kInt);
  const auto wide = x.to(at::kDouble);
  CHECK(close(ht::StandardScaler().fit_transform(even(x)), (wide - wide.mean(0)) / wide.std(0, false)));
}

TEST_CASE("bad rows and early questions are errors", "[ml][scalers]") {
  auto x = iris();
  x[77][1] = INFINITY;
  const auto bad = even(x);
  CHECK_THROWS_WITH(ht::StandardScaler().fit(bad), Contains("got inf in row 77, column 1"));
  CHECK_THROWS_WITH(ht::MinMaxScaler().fit(bad), Contains("got inf in row 77, column 1"));
  CHECK_THROWS_WITH(ht::MaxAbsScaler().fit(bad), Contains("got inf in row 77, column 1"));
  CHECK_THROWS_WITH(ht::RobustScaler().fit(bad), Contains("got inf in row 77, column 1"));
  CHECK_THROWS_AS(ht::StandardScaler().transform(bad), ht::NotFittedError);
  CHECK_THROWS_AS(ht::StandardScaler().mean(), ht::NotFittedError);
  CHECK_THROWS_WITH(ht::StandardScaler().fit(even(iris())).transform(ht::ones({4, 2})), Contains("got 2 features"));
  CHECK_THROWS_WITH(ht::StandardScaler().fit(ht::zeros({0, 2}, {.split = 0})), Contains("got 0 rows"));
  CHECK_THROWS_WITH(ht::MinMaxScaler({.low = 1, .high = 1}).fit(even(iris())), Contains("expected low < high"));
  CHECK_THROWS_WITH(ht::RobustScaler({.quantile_range = {50, 20}}).fit(even(iris())), Contains("got quantiles"));
}

TEST_CASE("rows whose squares leave float64 have an infinite variance wherever they lie", "[ml][scalers]") {
  const auto far = at::tensor({1e200, 1e200, 1e200, -1e200, -1e200, -1e200, 1e200, -1e200}, at::kDouble).unsqueeze(1);
  for (const auto& layout : every_layout({8, 1})) {
    ht::StandardScaler scaler;
    scaler.fit(distribute(far, layout));
    CHECK(gathered(scaler.var()).item<double>() == std::numeric_limits<double>::infinity());
    CHECK(std::isfinite(gathered(scaler.mean()).item<double>()));
  }
}

TEST_CASE("a column counts as constant by its rounding, for any sum of weights", "[ml][scalers][sizes]") {
  const auto wave = at::arange(1024, at::kDouble).cos();
  const auto column = 300 + 1e-6 * wave;
  const auto x = at::stack({column, at::full({1024}, 0.1, at::kDouble)}, 1);
  for (const double rows : {1.0, 0x1p14, 0x1p21, 0x1p43})
    for (const auto& layout : every_layout({1024, 2})) {
      ht::StandardScaler scaler;
      scaler.fit(distribute(x, layout), {.sample_weight = beside(at::full({1024}, rows, at::kDouble))});
      const auto z = gathered(scaler.transform(distribute(x, layout)));
      CHECK(z.select(1, 0).std(false).item<double>() == Approx(1).epsilon(1e-6));
      CHECK(z.select(1, 1).abs().max().item<double>() < 1e-9);
    }
}
