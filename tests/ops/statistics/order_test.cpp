#include "../../support.hpp"

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/statistics/order.hpp>

namespace {

at::Tensor scattered_with_ties(const ht::Shape& shape, at::ScalarType type) {
  return ((at::arange(ht::size_of(shape), at::kDouble) * 0.618).frac() * 2000 - 1000).reshape(shape).to(type);
}

}  // namespace

TEST_CASE("percentiles equal LibTorch's quantiles for every layout and axis", "[ops][order]") {
  const ht::Shape shape = GENERATE(ht::Shape{9, 3}, ht::Shape{101, 4}, ht::Shape{5, 40});
  const auto global = scattered_with_ties(shape, at::kDouble);
  const std::vector<double> q{0, 5, 50, 62.5, 95, 100};
  const auto fractions = at::tensor(at::ArrayRef<double>(q), at::kDouble) / 100;
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    CHECK(close(ht::percentile(x, q), global.quantile(fractions)));
    for (const int axis : {0, 1}) {
      CHECK(close(ht::percentile(x, q, {.axis = axis}), global.quantile(fractions, axis)));
      CHECK(close(ht::percentile(x, q, {.axis = axis, .keepdims = true}), global.quantile(fractions, axis, true)));
      CHECK(close(ht::median(x, axis), global.quantile(0.5, axis)));
    }
  }
}

TEST_CASE("every interpolation follows NumPy's rule", "[ops][order]") {
  const auto x = ht::array({4, 1, 3, 2}, {.dtype = ht::float64, .split = 0});
  const auto at_60 = [&](ht::Interpolation how) {
    return ht::percentile(x, 60.0, {.interpolation = how}).item<double>();
  };
  CHECK(at_60(ht::Interpolation::linear) == Approx(2.8));
  CHECK(at_60(ht::Interpolation::lower) == 2);
  CHECK(at_60(ht::Interpolation::higher) == 3);
  CHECK(at_60(ht::Interpolation::nearest) == 3);
  CHECK(at_60(ht::Interpolation::midpoint) == 2.5);
}

TEST_CASE("every dtype is selected exactly", "[ops][order]") {
  for (const auto dtype :
       {ht::bool_, ht::uint8, ht::int8, ht::int16, ht::int32, ht::int64, ht::float16, ht::bfloat16, ht::float32}) {
    const auto global = scattered_with_ties({77}, at::kDouble).clamp(-100, 100).to(ht::to_torch(dtype));
    const auto x = distribute(global, ht::Layout({77}, 0, ht::world().size()));
    const auto sorted = std::get<0>(global.to(at::kDouble).sort());
    const auto method = dtype == ht::bool_ ? ht::Interpolation::lower : ht::Interpolation::linear;
    CHECK(ht::percentile(x, 50.0, {.interpolation = method}).item<double>() == sorted[38].item<double>());
    CHECK(ht::percentile(x, 100.0, {.interpolation = method}).item<double>() == sorted[76].item<double>());
  }
}

TEST_CASE("order statistics of long vectors are exact", "[ops][order]") {
  const auto type = GENERATE(at::kFloat, at::kDouble, at::kInt, at::kLong);
  const std::int64_t n = 131072 * ht::world().size() + 77;
  const auto noise = (at::arange(n, at::kDouble) * 0.6180339887).frac() - 0.5;
  auto ends = noise.clone();
  ends.slice(0, 0, 90).fill_(type == at::kFloat || type == at::kDouble ? INFINITY : 1.);
  ends.slice(0, n - 70).fill_(-2.);
  const auto kinds = {noise,
                      std::get<0>(ends.sort()),
                      ends,
                      at::floor(noise * 3),
                      at::zeros({n}, at::kDouble),
                      at::where(noise > 0, noise, 0.),
                      noise * noise * noise * at::arange(n, at::kDouble).remainder(128)};
  for (const auto& kind : kinds) {
    const auto global = (at::isIntegralType(type, false) ? kind * 1e6 : kind).to(type);
    const at::Tensor sorted = std::get<0>(global.sort());
    for (const auto& layout : every_layout({n})) {
      const auto x = distribute(global, layout);
      for (const auto& q :
           std::vector<std::vector<double>>{{50}, {0, 25, 99.99, 100}, {1, 2, 3, 10, 20, 30, 40, 50, 60}}) {
        const auto places = (at::tensor(q, at::kDouble) / 100 * static_cast<double>(n - 1)).floor().to(at::kLong);
        CHECK(same(ht::percentile(x, q, {.interpolation = ht::Interpolation::lower}), sorted.index({places})));
      }
    }
  }
}

TEST_CASE("long vectors with NaN have quantiles without them", "[ops][order]") {
  const std::int64_t n = 131072 * ht::world().size() + 77;
  auto global = (at::arange(n, at::kFloat) * 0.618).frac();
  global.slice(0, 5, n, 1000).fill_(NAN);
  const at::Tensor sorted = std::get<0>(global.masked_select(at::isfinite(global)).sort());
  const auto lower = ht::Interpolation::lower;
  for (const auto& layout : every_layout({n})) {
    const auto x = distribute(global, layout);
    CHECK(std::isnan(ht::median(x).item<double>()));
    const auto place = static_cast<std::int64_t>(0.3 * static_cast<double>(sorted.numel() - 1));
    CHECK(same(ht::nanpercentile(x, 30, {.interpolation = lower}), sorted[place]));
    CHECK(same(ht::nanpercentile(x, 100, {.interpolation = lower}), sorted[-1]));
  }
}

TEST_CASE("long vectors of few different values have exact quantiles", "[ops][order]") {
  const std::int64_t n = 150'000 * ht::world().size();
  const std::vector<double> q{0, 10, 50, 89.9, 100};
  const auto noise = (at::arange(n, at::kDouble) * 0.618).frac();
  for (const auto type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kFloat, at::kDouble})
    for (const double values : {1.0, 2.0, 10.0, 100.0}) {
      const auto global = (noise * values).floor().to(type);
      const auto sorted = std::get<0>(global.sort());
      const auto x = distribute(global, {{n}, 0, ht::world().size()});
      const auto picked = ht::percentile(x, q, {.interpolation = ht::Interpolation::lower});
      for (std::size_t i = 0; i < q.size(); ++i) {
        const auto place = static_cast<std::int64_t>(std::floor(q[i] / 100 * static_cast<double>(n - 1)));
        CHECK(picked(static_cast<std::int64_t>(i)).astype(ht::float64).item<double>() == sorted[place].item<double>());
      }
      if (!at::isFloatingType(type)) continue;
      for (const auto special : {-INFINITY, INFINITY, NAN}) {  // few and many of them
        for (const auto step : {50'001, 3}) {
          auto with = global.clone();
          with.slice(0, 1, n, step).fill_(special);
          const auto y = distribute(with, {{n}, 0, ht::world().size()});
          const auto expected =
              std::isnan(special) ? with[1].item<double>() : std::get<0>(with.sort())[n / 3].item<double>();
          const auto found = ht::quantile(y, static_cast<double>(n / 3) / static_cast<double>(n - 1),
                                          {.interpolation = ht::Interpolation::nearest});
          CHECK(same(found.astype(ht::float64), at::scalar_tensor(expected, at::kDouble)));
        }
      }
    }
}

TEST_CASE("long columns have medians of their own", "[ops][order]") {
  const std::int64_t n = 131072 * ht::world().size() + 2;
  const auto global =
      (at::arange(2 * n, at::kDouble) * 0.618).frac().reshape({n, 2}) * at::tensor({1., -5.}, at::kDouble);
  for (const auto& layout : every_layout({n, 2})) {
    const auto x = distribute(global, layout);
    CHECK(close(ht::median(x, 0), at::quantile(global, 0.5, 0), 1e-14));
  }
}

TEST_CASE("truth values have quantiles that are picked, and medians", "[ops][order]") {
  const auto global = at::tensor({1, 0, 1, 1}).to(at::kBool);
  using enum ht::Interpolation;
  for (const auto& layout : every_layout({4})) {
    const auto x = distribute(global, layout);
    for (const auto method : {linear, midpoint, averaged_inverted_cdf, hazen}) {
      CHECK_THROWS_WITH(ht::quantile(x, 0.5, {.interpolation = method}),
                        Catch::Contains("[quantile] got an array of bool"));
      CHECK_THROWS_AS(ht::nanpercentile(x, {50, 60}, {.interpolation = method}), ht::TypeError);
    }
    for (const auto method : {lower, nearest, inverted_cdf})
      CHECK(same(ht::quantile(x, {0, 0.5, 1}, {.interpolation = method}), at::tensor({0, 1, 1}).to(at::kBool)));
    CHECK(same(ht::median(x), at::ones({})));
    CHECK(same(ht::median(x(ht::slice(0, 2))), at::full({}, 0.5)));
  }
}

TEST_CASE("of no elements nanquantile is nanmean", "[ops][order]") {
  for (const auto& layout : every_layout({0, 3}))
    for (const auto dtype : {ht::float64, ht::int64}) {
      const auto x = distribute(at::empty({0, 3}, ht::to_torch(dtype)), layout);
      const auto type = at::kDouble;
      CHECK(same(ht::nanquantile(x, {0.1, 0.2}, {.axis = 0}), at::full({3}, NAN, type)));
      CHECK(same(ht::nanpercentile(x, {10, 20}, {.keepdims = true}), at::full({1, 1}, NAN, type)));
      CHECK(same(ht::nanpercentile(x, 10, {.axis = 1}), at::empty({0}, type)));
      CHECK(same(ht::nanquantile(x, {0.1, 0.2}, {.axis = 1, .keepdims = true}), at::empty({0, 1}, type)));
      CHECK(same(ht::quantile(x, {0.1, 0.2}, {.axis = 1}), at::empty({2, 0}, type)));
      CHECK_THROWS_AS(ht::nanquantile(x, {0.1, 1.2}, {.axis = 0}), ht::ValueError);
    }
}

TEST_CASE("infinities are ordered, NaN gives NaN", "[ops][order]") {
  const auto x = ht::array({INFINITY, -INFINITY, 1.0, -0.0}, {.split = 0});
  CHECK(ht::percentile(x, 0.0, {.interpolation = ht::Interpolation::lower}).item<float>() == -INFINITY);
  CHECK(ht::percentile(x, 100.0, {.interpolation = ht::Interpolation::lower}).item<float>() == INFINITY);
  const auto columns = ht::array({{1.0, 2.0}, {NAN, 3.0}, {0.0, 4.0}}, {.split = 0});
  CHECK(same(ht::median(columns, 0), at::tensor({NAN, 3.0F})));
}

TEST_CASE("bad percentiles are errors", "[ops][order]") {
  const auto x = ht::ones({4, 5}, {.split = 0});
  CHECK_THROWS_WITH(ht::percentile(x, 101.0), Catch::Contains("[percentile] got q = 101"));
  CHECK_THROWS_AS(ht::percentile(x, std::vector<double>{NAN}), ht::ValueError);
  CHECK_THROWS_AS(ht::median(x, 2), ht::IndexError);
  CHECK_THROWS_AS(ht::percentile(ht::ones({0, 3}, {.split = 0}), 50.0, {.axis = 0}), ht::ValueError);
  CHECK(same(ht::median(ht::ones({0, 3}, {.split = 0}), 0), at::full({3}, NAN)));
  CHECK_THROWS_AS(ht::percentile(ht::ones({3}, {.dtype = ht::complex64}), 50), ht::TypeError);
}

TEST_CASE("quantiles over several axes equal LibTorch's over the flattened ones", "[ops][order]") {
  const ht::Shape shape{4, 5, 3};
  const auto global = scattered_with_ties(shape, at::kDouble);
  const auto outer = global.permute({1, 0, 2}).reshape({5, 12});
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    CHECK(close(ht::quantile(x, 0.3, {.axis = {0, 2}}), outer.quantile(0.3, 1)));
    CHECK(close(ht::quantile(x, {0.3, 0.9}, {.axis = {-1, 0}, .keepdims = true}),
                outer.quantile(at::tensor({0.3, 0.9}, at::kDouble), 1).reshape({2, 1, 5, 1})));
    CHECK(close(ht::median(x, {.axis = {0, 2}}), outer.quantile(0.5, 1)));
    CHECK(close(ht::ptp(x, {.axis = {0, 2}}), outer.amax(1) - outer.amin(1)));
  }
}

TEST_CASE("the nan functions leave NaN out", "[ops][order]") {
  const ht::Shape shape{21, 4};
  auto global = scattered_with_ties(shape, at::kDouble);
  global[3][0] = global[7][0] = global[20][1] = NAN;
  global.select(1, 3).fill_(NAN);
  const auto q = at::tensor({0.0, 0.35, 1.0}, at::kDouble);
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    CHECK(close(ht::nanquantile(x, {0, 0.35, 1}, {.axis = 0}), at::nanquantile(global, q, 0)));
    CHECK(close(ht::nanpercentile(x, 35.0, {.axis = 1}), at::nanquantile(global, 0.35, 1)));
    CHECK(close(ht::nanmedian(x), at::nanquantile(global, 0.5)));
    CHECK(
        same(ht::median(x, 0), at::tensor({NAN, NAN, ht::median(x(ht::all_of, 2)).item<double>(), NAN}, at::kDouble)));
  }
  CHECK(same(ht::nanmedian(ht::ones({0, 2}, {.split = 0}), 0), at::tensor({NAN, NAN}).to(at::kFloat)));
}

TEST_CASE("the median is the mean of the two middle elements, also if one is infinite", "[ops][order]") {
  CHECK(ht::median(ht::array({1.0, INFINITY}, {.split = 0})).item<float>() == INFINITY);
}

TEST_CASE("the estimates of Hyndman and Fan are NumPy's", "[ops][order]") {
  const auto x = ht::array({7, 1, 5, 3, 2, 9}, {.dtype = ht::float64, .split = 0});
  const auto of = [&](ht::Interpolation how) {
    const auto found = gathered(ht::quantile(x, {0, 0.25, 0.5, 0.75, 1}, {.interpolation = how}));
    return std::vector<double>(found.const_data_ptr<double>(), found.const_data_ptr<double>() + 5);
  };
  using Values = std::vector<double>;
  using enum ht::Interpolation;
  CHECK(of(inverted_cdf) == Values{1, 2, 3, 7, 9});
  CHECK(of(averaged_inverted_cdf) == Values{1, 2, 4, 7, 9});
  CHECK(of(closest_observation) == Values{1, 2, 3, 5, 9});
  CHECK(of(interpolated_inverted_cdf) == Values{1, 1.5, 3, 6, 9});
  CHECK(of(hazen) == Values{1, 2, 4, 7, 9});
  CHECK(of(weibull) == Values{1, 1.75, 4, 7.5, 9});
}

TEST_CASE("methods that pick elements keep their dtype", "[ops][order]") {
  const auto global = at::tensor({7, 1, 5, 3}, at::kLong);
  for (const auto& layout : every_layout({4})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::percentile(x, {0, 50, 100}, {.interpolation = ht::Interpolation::lower}),
               at::tensor({1, 3, 7}, at::kLong)));
    CHECK(ht::percentile(x, 50.0).dtype() == ht::float64);
    CHECK(same(ht::percentile(x > 4, 50, {.interpolation = ht::Interpolation::higher}), at::full({}, true)));
  }
}

TEST_CASE("selected whole numbers are exact, and empty arrays have none", "[ops][order]") {
  using Limits = std::numeric_limits<std::int64_t>;
  const auto global = at::tensor({Limits::max(), (std::int64_t{1} << 53) + 1, Limits::min()}, at::kLong);
  for (const auto& layout : every_layout({3})) {
    const auto x = distribute(global, layout);
    for (const auto method : {ht::Interpolation::nearest, ht::Interpolation::inverted_cdf})
      CHECK(same(ht::nanquantile(x, {0, 0.5, 1}, {.interpolation = method}), global.flip(0)));
  }
  for (const auto& layout : every_layout({2, 0})) {
    const auto x = distribute(at::zeros({2, 0}, at::kLong), layout);
    for (const auto& weights : {std::optional<ht::DNDarray>(), std::optional(x)}) {
      ht::PercentileOptions options{.axis = 1, .interpolation = ht::Interpolation::inverted_cdf, .weights = weights};
      CHECK(same(ht::nanquantile(x, 0.5, options), at::full({2}, NAN, at::kDouble)));
    }
    CHECK_THROWS_AS(ht::nanquantile(x, 0.5, {.weights = x}), ht::ValueError);
    CHECK_THROWS_AS(
        ht::nanquantile(x, 0.5,
                        {.axis = 1, .interpolation = ht::Interpolation::inverted_cdf, .weights = ht::ones({3})}),
        ht::ValueError);
  }
}

TEST_CASE("interpolation between infinities is NumPy's", "[ops][order]") {
  const auto global = at::tensor({0., INFINITY, -INFINITY, 2., INFINITY}, at::kDouble);
  for (const auto& layout : every_layout({5})) {
    const auto x = distribute(global, layout);
    CHECK(close(ht::percentile(x, {0, 10, 25, 30, 50, 60, 100}),
                at::tensor({NAN, NAN, 0., 0.4, NAN, INFINITY, NAN}, at::kDouble)));
    CHECK(same(ht::percentile(x, {0, 100}, {.interpolation = ht::Interpolation::lower}),
               at::tensor({-INFINITY, INFINITY}, at::kDouble)));
  }
}

TEST_CASE("quantiles with weights are those of elements repeated as often", "[ops][order][host]") {
  const auto global = (at::arange(24, at::kDouble) * 0.618).frac().reshape({4, 3, 2});
  const auto weights = at::tensor({2, 0, 1, 3}), repeated = global.repeat_interleave(weights, 0);
  const std::vector<double> q{0, 0.2, 0.5, 0.9, 1};
  constexpr auto method = ht::Interpolation::inverted_cdf;
  const auto everywhere = [](const at::Tensor& x) { return ht::from_tensor(x, {}); };
  for (const auto& layout : every_layout({4, 3, 2})) {
    const auto x = distribute(global, layout);
    const auto expected = ht::quantile(everywhere(repeated), q, {.axis = 0, .interpolation = method});
    CHECK(same(ht::quantile(x, q, {.axis = 0, .interpolation = method, .weights = everywhere(weights)}),
               expected.larray()));
    const auto all = everywhere(weights.reshape({4, 1, 1}).expand({4, 3, 2}));
    CHECK(same(ht::percentile(x, 30, {.keepdims = true, .interpolation = method, .weights = all}),
               ht::percentile(everywhere(repeated), 30, {.keepdims = true, .interpolation = method}).larray()));
    const auto beside = ht::where(ht::eq(x, global[3][1][0].item<double>()), NAN, x);
    CHECK(gathered(ht::quantile(beside, 0.5, {.axis = {0, 2}, .interpolation = method, .weights = ht::ones({4, 2})}))
              .isnan()
              .sum()
              .item<int>() == 1);
    CHECK(same(ht::nanquantile(beside, 1, {.axis = 0, .interpolation = method, .weights = everywhere(weights)})(1, 0),
               repeated.narrow(0, 0, 3).amax(0)[1][0]));
    CHECK_THROWS_AS(ht::quantile(x, 0.5, {.weights = all}), ht::ValueError);
    CHECK_THROWS_AS(ht::quantile(x, 0.5, {.interpolation = method, .weights = all * -1}), ht::ValueError);
    CHECK_THROWS_AS(ht::quantile(x, 0.5, {.interpolation = method, .weights = all * 0}), ht::ValueError);
  }
}

TEST_CASE("whole numbers selected by weights stay whole numbers", "[ops][order]") {
  const auto global = at::tensor({5, 1, 7, 3, 2, 9, 4, 6}, at::kLong).reshape({2, 4});
  const auto weights = at::tensor({1, 2, 3, 4, 4, 3, 2, 1}, at::kLong).reshape({2, 4});
  for (const auto& layout : every_layout({2, 4})) {
    const auto x = distribute(global, layout), w = distribute(weights, layout);
    const auto picked = [&](const ht::Axes& axis) {
      return ht::nanquantile(x, {0.3, 0.5},
                             {.axis = axis, .interpolation = ht::Interpolation::inverted_cdf, .weights = w});
    };
    CHECK(same(picked(1), at::tensor({3, 2, 3, 4}, at::kLong).reshape({2, 2})));
    CHECK(same(picked(0), at::tensor({2, 1, 4, 3, 2, 9, 7, 3}, at::kLong).reshape({2, 4})));
    CHECK(same(picked(std::nullopt), at::tensor({2, 3}, at::kLong)));
  }
}

TEST_CASE("lines of which all weights are 0 are refused unless all is NaN", "[ops][order]") {
  constexpr auto method = ht::Interpolation::inverted_cdf;
  const auto numbers = at::tensor({1., 2., 3., 4., 5., 6.}, at::kDouble).reshape({2, 3});
  const auto global = at::cat({at::full({1, 3}, NAN, at::kDouble), numbers.slice(0, 1)});
  const auto weights = at::tensor({0., 0., 0., 1., 1., 1.}, at::kDouble).reshape({2, 3});
  const std::vector<double> none;
  for (const auto& layout : every_layout({2, 3}))
    for (const auto& other : every_layout({2, 3})) {
      const auto x = distribute(numbers, layout), y = distribute(global, layout), w = distribute(weights, other);
      const ht::PercentileOptions options{.axis = 1, .interpolation = method, .weights = w};
      CHECK_THROWS_AS(ht::quantile(x, 0.5, options), ht::ValueError);
      CHECK_THROWS_AS(ht::nanquantile(x, 0.5, options), ht::ValueError);
      CHECK_THROWS_AS(ht::nanquantile(x.astype(ht::int64), 0.5, options), ht::ValueError);
      CHECK(same(ht::nanquantile(y, 0.5, options), at::tensor({NAN, 5.}, at::kDouble)));
      CHECK(same(ht::quantile(x, none, {.axis = 0, .keepdims = true, .interpolation = method, .weights = w + 1}),
                 at::empty({0, 1, 3}, at::kDouble)));
      CHECK(same(ht::quantile(x.astype(ht::int64), none, {.interpolation = method, .weights = w}),
                 at::empty({0}, at::kLong)));
      CHECK(same(ht::quantile(x, none, {.axis = 1}), at::empty({0, 2}, at::kDouble)));
    }
  const auto nothing = ht::zeros({0, 2}, {.split = 0});
  CHECK(same(ht::nanquantile(nothing, 0.5, {.axis = 0, .interpolation = method, .weights = nothing}),
             at::full({2}, NAN)));
}

TEST_CASE("the median of complex numbers is that of their order", "[ops][order]") {
  const auto real = at::tensor({1., 2., 2., 1., 0., 2.}, at::kDouble),
             imag = at::tensor({5., -1., 3., 7., 9., 5.}, at::kDouble);
  const auto global = at::complex(real, imag).reshape({3, 2});
  for (const auto& layout : every_layout({3, 2})) {
    const auto x = distribute(global, layout);
    const auto all = at::full({}, c10::complex<double>(1.5, 3), at::kComplexDouble);
    CHECK(same(ht::median(x), all));
    CHECK(same(ht::median(x, {.axis = {1, 0}, .keepdims = true}), all.reshape({1, 1})));
    CHECK(same(ht::median(x, 0), global.flatten().index({at::tensor({0, 1})})));
    const auto y = ht::where(ht::eq(x, std::complex<double>(2, 5)), std::complex<double>(0, NAN), x);
    CHECK(same(ht::nanmedian(y), global[1][1]));
    CHECK(std::isnan(ht::median(y).item<std::complex<double>>().imag()));
    const auto large = std::complex<double>(std::numeric_limits<double>::max(), 1);
    CHECK(ht::median(x * 0 + large).item<std::complex<double>>() == large);
  }
}

TEST_CASE("medians take neither weights nor interpolations", "[ops][order]") {
  const auto x = ht::arange(8, {.dtype = ht::float32, .split = 0});
  CHECK_THROWS_AS(ht::median(x, {.interpolation = ht::Interpolation::lower}), ht::ValueError);
  CHECK_THROWS_AS(ht::nanmedian(x, {.weights = x}), ht::ValueError);
}
