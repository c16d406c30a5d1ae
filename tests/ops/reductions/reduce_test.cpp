#include "../../support.hpp"

#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/reductions/arg.hpp>
#include <heatpp/ops/reductions/nan.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/sorting/search.hpp>

TEST_CASE("reductions equal LibTorch's of the gathered array", "[ops][reduce]") {
  const auto global = at::arange(15, at::kDouble).reshape({5, 3}) * 0.5 - 2;
  for (const auto& layout : every_layout({5, 3})) {
    const auto x = distribute(global, layout);
    for (const int axis : {0, 1, -1, -2}) {
      CHECK(close(ht::sum(x, axis), global.sum(axis)));
      CHECK(close(ht::prod(x, axis), global.prod(axis)));
      CHECK(same(ht::max(x, axis), global.amax(axis)));
      CHECK(same(ht::min(x, {.axis = axis, .keepdims = true}), global.amin(axis, true)));
      CHECK(same(ht::any(x, axis), global.any(axis)));
      CHECK(same(ht::all(x, axis), global.all(axis)));
    }
    CHECK(close(ht::sum(x), global.sum()));
    CHECK(close(ht::sum(x, {.axis = {0, 1}, .keepdims = true}), global.sum().reshape({1, 1})));
    CHECK(same(ht::max(x), global.max()));
    CHECK(close(ht::prod(x), global.prod()));
  }
}

TEST_CASE("reductions of a cube over every set of axes", "[ops][reduce]") {
  const auto global = at::arange(2 * 5 * 3, at::kLong).reshape({2, 5, 3});
  for (const auto& layout : every_layout({2, 5, 3}))
    for (const std::vector<int>& axes : {std::vector{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {2, 1, 0}}) {
      const std::vector<std::int64_t> dims(axes.begin(), axes.end());
      CHECK(same(ht::sum(distribute(global, layout), {.axis = axes}), global.sum(dims)));
      CHECK(same(ht::max(distribute(global, layout), {.axis = axes, .keepdims = true}), global.amax(dims, true)));
    }
}

TEST_CASE("NaN wins an extremum and whole numbers sum exactly", "[ops][reduce]") {
  auto global = at::arange(7, at::kFloat);
  global[5] = NAN;
  const auto huge = at::full({7}, std::int64_t{1} << 53, at::kLong) + at::arange(7);
  for (const auto& layout : every_layout({7})) {
    CHECK(same(ht::max(distribute(global, layout)), at::full({}, NAN)));
    CHECK(same(ht::min(distribute(global, layout)), at::full({}, NAN)));
    CHECK(same(ht::sum(distribute(huge, layout)), huge.sum()));
    CHECK(same(ht::max(distribute(huge, layout)), huge.max()));
    CHECK(same(ht::sum(distribute(global > 2, layout)), (global > 2).sum()));
  }
}

TEST_CASE("reductions of empty arrays", "[ops][reduce]") {
  for (const auto& layout : every_layout({0, 3})) {
    const auto x = distribute(at::zeros({0, 3}), layout);
    CHECK(same(ht::sum(x, 0), at::zeros({3})));
    CHECK(same(ht::all(x, 0), at::ones({3}, at::kBool)));
    CHECK_THROWS_WITH(ht::max(x, 0), Catch::Contains("[max] got an array of shape (0, 3)"));
    CHECK(ht::max(x, 1).shape() == ht::Shape{0});
  }
}

TEST_CASE("a reduction along the split is one call, along others none", "[ops][reduce]") {
  const auto x = ht::ones({8, 4}, {.split = 0});
  const auto before = ht::comm_report();
  CHECK(ht::sum(x, 1).split() == 0);
  CHECK(ht::comm_report().calls == before.calls);
  CHECK(ht::sum(x, 0).split() == std::nullopt);
  CHECK(ht::comm_report().calls - before.calls == (ht::world().size() > 1));
}

TEST_CASE("bad axes are errors that name them", "[ops][reduce]") {
  const auto x = ht::ones({4, 5}, {.split = 0});
  CHECK_THROWS_WITH(ht::sum(x, 7),
                    Catch::Contains("[sum] got axis 7 for an array with 2 axes; expected -2 <= axis < 2"));
  CHECK_THROWS_AS(ht::sum(x, {.axis = {1, -1}}), ht::ValueError);
}

TEST_CASE("scans run over empty and uneven blocks", "[ops][scan]") {
  const auto global = at::arange(1, 22, at::kLong).reshape({7, 3});
  for (const auto& layout : every_layout({7, 3})) {
    const auto x = distribute(global, layout);
    for (const int axis : {0, 1}) {
      CHECK(same(ht::cumsum(x, axis), global.cumsum(axis)));
      CHECK(same(ht::cumprod(x, axis), global.cumprod(axis)));
    }
    CHECK(ht::cumsum(x, -1).layout() == layout);
    CHECK_THROWS_AS(ht::cumsum(x, 2), ht::IndexError);
  }
}

TEST_CASE("any and all of uint8 are bool", "[ops][reduce]") {
  const auto global = at::tensor({1, 0, 3, 2}).reshape({2, 2}).to(at::kByte);
  for (const auto& layout : every_layout({2, 2})) {
    CHECK(same(ht::any(distribute(global, layout), 0), at::tensor({1, 1}).to(at::kBool)));
    CHECK(same(ht::all(distribute(global, layout), 0), at::tensor({1, 0}).to(at::kBool)));
  }
}

TEST_CASE("arrays without axes reduce", "[ops][reduce]") {
  const auto x = ht::full({}, 2.5, {.dtype = ht::float64});
  CHECK(same(ht::nansum(x), at::full({}, 2.5, at::kDouble)));
  CHECK(same(ht::nanmax(x), at::full({}, 2.5, at::kDouble)));
  CHECK(same(ht::nanvar(x), at::full({}, 0., at::kDouble)));
  for (const int axis : {0, -1}) CHECK(same(ht::sum(x, axis), at::full({}, 2.5, at::kDouble)));
  CHECK_THROWS_AS(ht::sum(x, {.axis = {0, 0}}), ht::IndexError);
  CHECK_THROWS_AS(ht::max(x, {.axis = {0, -1}}), ht::IndexError);
}

TEST_CASE("the variance beside NaN is that of the other elements", "[ops][reduce]") {
  const auto global = at::tensor({1., NAN, INFINITY, 4., 2., 1., NAN, NAN, 3.}, at::kDouble).reshape({3, 3});
  const auto z = at::complex(at::nan_to_num(global, 7, 9), global * 0 + 1);
  for (const auto& layout : every_layout({3, 3})) {
    CHECK(close(ht::nanvar(distribute(global, layout), 0), at::tensor({2.25, 0., NAN}, at::kDouble)));
    CHECK(
        close(ht::nanvar(distribute(z, layout), {.axis = 1, .ddof = 1}), at::tensor({NAN, 7. / 3, NAN}, at::kDouble)));
    CHECK(close(ht::nanvar(distribute(global > 1, layout), 0), at::tensor({2. / 9, 2. / 9, 2. / 9}).to(at::kFloat),
                1e-6));
  }
}

TEST_CASE("variances beyond the range of numbers are infinite, of too few elements NaN", "[ops][reduce]") {
  const auto global = at::tensor({1e200, -1e200, NAN, 1., NAN, NAN, 2., INFINITY, 1.}, at::kDouble).reshape({3, 3});
  for (const auto& layout : every_layout({3, 3})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::nanvar(x, 1), at::tensor({double{INFINITY}, 0., double{NAN}}, at::kDouble)));
    CHECK(same(ht::nanstd(x, {.axis = 1, .ddof = 1}), at::tensor({double{INFINITY}, NAN, NAN}, at::kDouble)));
    CHECK(same(ht::nanvar(x, {.axis = 1, .ddof = 2}), at::full({3}, NAN, at::kDouble)));
    CHECK(same(ht::var(x, {.axis = 0, .ddof = 3}), at::tensor({double{INFINITY}, NAN, NAN}, at::kDouble)));
    CHECK(same(ht::nanvar(ht::isnan(x), {.axis = 1, .ddof = 3}), at::tensor({INFINITY, INFINITY, NAN})));
  }
}

TEST_CASE("equal arrays may hold NaN", "[ops][reduce]") {
  for (const auto& layout : every_layout({3})) {
    const auto x = distribute(at::tensor({1., NAN, 2.}, at::kDouble), layout);
    CHECK_FALSE(ht::array_equal(x, x));
    CHECK(ht::array_equal(x, x, {.equal_nan = true}));
    CHECK_FALSE(ht::array_equal(x, x + 1, {.equal_nan = true}));
  }
}

TEST_CASE("a scan carries infinite complex numbers across ranks", "[ops][scan]") {
  const auto part = at::tensor({1., 2., INFINITY, 3., 4.}, at::kDouble);
  for (const auto& layout : every_layout({5})) {
    const auto x = distribute(at::complex(part, at::ones({5}, at::kDouble)), layout);
    CHECK(same(ht::imag(ht::cumsum(x)), at::arange(1, 6).to(at::kDouble)));
    auto y = distribute(part, layout);
    CHECK(same(ht::cumsum_(y, 0), part.cumsum(0)));
    CHECK(same(y, part.cumsum(0)));
  }
  auto truths = ht::ones({3}, {.dtype = ht::bool_, .split = 0});
  CHECK_THROWS_AS(ht::cumsum_(truths, 0), ht::TypeError);
}

TEST_CASE("elements that a mask leaves out do not take part", "[ops][reduce]") {
  const auto global = at::arange(15, at::kDouble).reshape({5, 3}) * 0.5 - 2;
  const auto mask = at::tensor({1, 0, 1, 1, 0}).to(at::kBool).unsqueeze(1);
  const auto kept = global.masked_fill(mask.logical_not(), 0);
  const std::vector<ht::Layout> cuts = every_layout({5, 1});
  std::size_t next = 0;
  for (const auto& layout : every_layout({5, 3})) {
    const auto x = distribute(global, layout), where = distribute(mask, cuts[next++ % cuts.size()]);
    for (const int axis : {0, 1}) {
      CHECK(close(ht::sum(x, {.axis = axis, .where = where}), kept.sum(axis)));
      CHECK(close(ht::prod(x, {.axis = axis, .where = where}), global.masked_fill(mask.logical_not(), 1).prod(axis)));
      CHECK(same(ht::max(x, {.axis = axis, .initial = 1, .where = where}),
                 global.masked_fill(mask.logical_not(), 1).amax(axis).clamp_min(1)));
      CHECK(same(ht::min(x, {.axis = axis, .keepdims = true, .initial = 9, .where = where}),
                 global.masked_fill(mask.logical_not(), 9).amin(axis, true)));
      CHECK(same(ht::any(x > 4, {.axis = axis, .where = where}), (kept > 4).any(axis)));
      CHECK(same(ht::all(x < 4, {.axis = axis, .where = where}), (kept < 4).all(axis)));
    }
    CHECK(ht::sum(x, {.axis = 1, .where = where}).split() == ht::sum(x, 1).split());
    CHECK(same(ht::count_nonzero(x, {.where = where}), (kept != 0).sum()));
    CHECK_THROWS_WITH(ht::max(x, {.where = where}), Catch::Contains("[max] got where without initial"));
    CHECK_THROWS_AS(ht::sum(x, {.where = x}), ht::TypeError);
    CHECK_THROWS_AS(
        ht::sum(x, {.where = distribute(at::ones({2}, at::kBool), ht::Layout({2}, std::nullopt, ht::world().size()))}),
        ht::ValueError);
  }
}

TEST_CASE("an initial value takes part once in every result", "[ops][reduce]") {
  const auto global = at::arange(1, 7).reshape({3, 2});
  for (const auto& layout : every_layout({3, 2})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::sum(x, {.axis = 0, .initial = 10}), global.sum(0) + 10));
    CHECK(same(ht::max(x.astype(ht::float16), {.axis = 0, .initial = 70000}), at::full({2}, INFINITY, at::kHalf)));
    CHECK(same(ht::prod(x, {.initial = 2}), global.prod() * 2));
    CHECK(same(ht::max(x, {.axis = 1, .initial = 4}), at::tensor({4, 4, 6}).to(at::kLong)));
    CHECK_THROWS_AS(ht::mean(x, {.initial = 4}), ht::ValueError);
    CHECK_THROWS_WITH(ht::max(x.astype(ht::uint8), {.initial = -1}),
                      Catch::Contains("[max] got the number -1 for an array of uint8; expected 0 .. 255"));
  }
  for (const auto& layout : every_layout({0, 2}))
    CHECK(same(ht::max(distribute(at::zeros({0, 2}), layout), {.axis = 0, .initial = 3}), at::full({2}, 3.F)));
}

TEST_CASE("an initial value is of the kind of the result", "[ops][reduce]") {
  for (const auto& layout : every_layout({3, 2})) {
    const auto x = distribute(at::arange(6).reshape({3, 2}), layout);
    for (const double bad : {double{NAN}, double{INFINITY}, -double{INFINITY}, 1e30}) {
      CHECK_THROWS_AS(ht::max(x, {.axis = 0, .initial = bad}), ht::ValueError);
      CHECK_THROWS_AS(ht::sum(x > 2, {.initial = bad}), ht::ValueError);
      CHECK_THROWS_AS(ht::min(x.astype(ht::uint8), {.axis = 1, .initial = bad}), ht::ValueError);
      CHECK_THROWS_AS(ht::prod(x.astype(ht::float32), {.dtype = ht::int64, .initial = bad}), ht::ValueError);
    }
    CHECK_THROWS_WITH(ht::sum(x, {.initial = NAN}), Catch::Contains("[sum] got the number nan for an array of"));
    CHECK_THROWS_AS(ht::sum(x, {.initial = std::complex<double>(0, 1)}), ht::TypeError);
    CHECK(same(ht::sum(x, {.initial = 2.5}), at::full({}, 17, at::kLong)));
    CHECK(same(ht::max(x.astype(ht::uint8), {.initial = 255.9}), at::full({}, 255, at::kByte)));
    CHECK(same(ht::sum(x.astype(ht::float16), {.axis = 1, .initial = NAN}), at::full({3}, NAN, at::kHalf)));
  }
}

TEST_CASE("an extremum of an empty axis is refused, also if the result is empty", "[ops][reduce]") {
  for (const ht::Shape& shape : {ht::Shape{0, 0}, {2, 0, 0}}) {
    const int axis = static_cast<int>(shape.size()) - 1;
    for (const auto& layout : every_layout(shape)) {
      const auto x = distribute(at::zeros(shape), layout);
      CHECK_THROWS_AS(ht::max(x, axis), ht::ValueError);
      CHECK_THROWS_AS(ht::min(x, axis), ht::ValueError);
      CHECK_THROWS_AS(ht::nanmax(x, axis), ht::ValueError);
      CHECK_THROWS_AS(ht::argmax(x, axis), ht::ValueError);
      CHECK_THROWS_AS(ht::nanargmin(x, axis), ht::ValueError);
      CHECK(same(ht::max(x, {.axis = axis, .initial = 1}), at::zeros(shape).sum(axis)));
    }
  }
  for (const auto& layout : every_layout({2, 0, 0})) {
    const auto x = distribute(at::zeros({2, 0, 0}), layout);
    CHECK(same(ht::max(x, 0), at::zeros({0, 0})));
    CHECK(same(ht::argmin(x, 0), at::zeros({0, 0}, at::kLong)));
  }
}

TEST_CASE("a reduction is computed in the dtype that is asked for", "[ops][reduce]") {
  const auto global = at::tensor({100, 100, 100, -7}).to(at::kChar);
  for (const auto& layout : every_layout({4})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::sum(x, {.dtype = ht::int8}), at::full({}, 37, at::kChar)));
    CHECK(same(ht::sum(x, {.dtype = ht::float64}), at::full({}, 293., at::kDouble)));
    CHECK(same(ht::sum(x, {.dtype = ht::bool_}), at::full({}, true)));
    CHECK(same(ht::prod(x, {.dtype = ht::float64}), at::full({}, -7e6, at::kDouble)));
    CHECK(same(ht::mean(x, {.dtype = ht::float64}), at::full({}, 73.25, at::kDouble)));
    CHECK(same(ht::cumsum(x, {.axis = 0, .dtype = ht::int8}), at::tensor({100, -56, 44, 37}).to(at::kChar)));
    CHECK(same(ht::mean(x, {.dtype = ht::int64}), at::full({}, 73, at::kLong)));
    CHECK(same(ht::cumsum(x - 100, {.dtype = ht::bool_}), at::tensor({0, 0, 0, 1}).to(at::kBool)));
    CHECK(same(ht::nancumprod(x * 0.5, {.dtype = ht::float64}),
               at::tensor({50., 2500., 125000., -437500.}, at::kDouble)));
  }
}

TEST_CASE("a running sum may begin with 0", "[ops][scan]") {
  const auto global = at::arange(1, 7).reshape({3, 2});
  for (const auto& layout : every_layout({3, 2})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::cumulative_sum(x, {.axis = 0, .include_initial = true}),
               at::cat({at::zeros({1, 2}, at::kLong), global.cumsum(0)})));
    CHECK(same(ht::cumulative_prod(x, {.axis = 1, .include_initial = true}),
               at::cat({at::ones({3, 1}, at::kLong), global.cumprod(1)}, 1)));
    CHECK_THROWS_WITH(ht::cumulative_sum(x), Catch::Contains("[cumulative_sum] got no axis for an array of shape"));
    CHECK_THROWS_AS(ht::cumulative_prod(x), ht::ValueError);
  }
}

TEST_CASE("complex numbers have extremes in the order of their parts", "[ops][reduce]") {
  const auto real = at::tensor({1., 2., 2., 1., 0., 2.}, at::kDouble),
             imag = at::tensor({5., -1., 3., 7., 9., 3.}, at::kDouble);
  const auto global = at::complex(real, imag).reshape({3, 2});
  const auto part = [&](std::vector<std::int64_t> positions) {
    return global.flatten().index({at::tensor(positions)});
  };
  for (const auto& layout : every_layout({3, 2})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::max(x), part({2}).squeeze()));
    CHECK(same(ht::min(x, 0), part({4, 3})));
    CHECK(same(ht::max(x, {.axis = {0, 1}, .keepdims = true}), part({2}).reshape({1, 1})));
    CHECK(same(ht::argmax(x), at::full({}, 2, at::kLong)));
    CHECK(same(ht::argmin(x, 0), at::tensor({2, 1}).to(at::kLong)));
    CHECK(same(ht::argmax(x, 1), at::tensor({1, 0, 1}).to(at::kLong)));
    auto y = ht::where(ht::eq(x, std::complex<double>(1, 7)), std::complex<double>(0, NAN), x);
    CHECK(std::isnan(ht::max(y).item<std::complex<double>>().imag()));
    CHECK(same(ht::argmin(y), at::full({}, 3, at::kLong)));
    CHECK(same(ht::nanargmin(y), at::full({}, 4, at::kLong)));
  }
}

TEST_CASE("reductions without NaN name themselves and leave out an initial one", "[ops][reduce][host]") {
  const auto global = at::tensor({NAN, 1., 3., NAN}, at::kDouble).reshape({2, 2});
  const auto nan = static_cast<double>(NAN);
  for (const auto& layout : every_layout({2, 2})) {
    const auto x = distribute(global, layout), where = ht::array({{true, false}, {true, false}});
    CHECK(same(ht::nanmax(x, {.axis = 0, .initial = nan, .where = where}), at::tensor({3., nan}, at::kDouble)));
    CHECK(same(ht::nanmin(x, {.initial = nan}), at::full({}, 1., at::kDouble)));
    CHECK(same(ht::nanmin(x, {.initial = 0.5}), at::full({}, 0.5, at::kDouble)));
    CHECK_THROWS_WITH(ht::nanmax(x, {.where = where}), Catch::Contains("[nanmax] got where without initial"));
    CHECK_THROWS_WITH(ht::nanmin(x, 2), Catch::Contains("[nanmin] got axis 2"));
    CHECK_THROWS_WITH(ht::nansum(x, 2), Catch::Contains("[nansum] got axis 2"));
    CHECK_THROWS_WITH(ht::nanmean(x, 2), Catch::Contains("[nanmean] got axis 2"));
    CHECK_THROWS_AS(ht::nanmean(x, {.dtype = ht::int64}), ht::TypeError);
    CHECK_THROWS_AS(ht::nanstd(x, {.dtype = ht::int64}), ht::TypeError);
    CHECK_THROWS_WITH(ht::nanmean(x, {.where = x}), Catch::Contains("[nanmean] got a mask of float64; expected bool"));
    CHECK(ht::nanmean(x > 0, {.dtype = ht::int64}).dtype() == ht::int64);
  }
}

TEST_CASE("narrow floats are totalled in float32", "[ops][reduce]") {
  const auto global = at::tensor({60000., 60000., -60000., -60000.}).to(at::kHalf);
  const auto roots = at::tensor({300., 300., 0.001, 0.001}).to(at::kHalf);
  for (const auto& layout : every_layout({4})) {
    const auto x = distribute(global, layout), y = distribute(roots, layout);
    CHECK(ht::sum(x).dtype() == ht::float16);
    CHECK(ht::sum(x, {.initial = 1.0}).item<float>() == 1);
    CHECK(ht::nansum(x).item<float>() == 0);
    CHECK(ht::prod(y).item<float>() == Approx(0.09).epsilon(2e-3));
    CHECK(same(ht::cumsum(x), at::tensor({60000., INFINITY, 60000., 0.}).to(at::kHalf)));
  }
}

TEST_CASE("a scan in place of a broadcast array does not change others", "[ops][scan]") {
  const auto row = ht::ones({2}, {.split = 0});
  auto stretched = ht::broadcast_to(row, {3, 2});
  CHECK(same(ht::cumsum_(stretched, 0), at::tensor({1.f, 2.f, 3.f}).reshape({3, 1}).expand({3, 2})));
  CHECK(same(row, at::ones({2})));
}

TEST_CASE("sums in place of narrow integers wrap in their own dtype", "[ops][scan]") {
  const auto global = (at::arange(600) % 100).to(at::kChar).view({200, 3});
  for (const auto& layout : every_layout({200, 3})) {
    auto x = distribute(global.clone(), layout), y = distribute(global.clone(), layout);
    CHECK(same(ht::cumsum_(x, 0), global.cumsum(0).to(at::kChar)));
    CHECK(same(ht::cumprod_(y, 0), global.cumprod(0).to(at::kChar)));
  }
}

TEST_CASE("axes are one number, braces of several, or all; empty braces are no axes", "[ops][reduce]") {
  const auto global = at::arange(24, at::kDouble).reshape({2, 3, 4});
  const std::vector<int> none;
  for (const auto& layout : every_layout({2, 3, 4})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::sum(x, {}), global.sum()));
    CHECK(same(ht::sum(x, {0}), global.sum(0)));
    CHECK(same(ht::sum(x, {0, 2}), global.sum(at::IntArrayRef{0, 2})));
    CHECK(same(ht::sum(x, {-1, 1}), global.sum(at::IntArrayRef{2, 1})));
    CHECK(same(ht::sum(x, std::int64_t{1}), global.sum(1)));
    CHECK(same(ht::sum(x, std::nullopt), global.sum()));
    CHECK(same(ht::sum(x, std::optional<int>(1)), global.sum(1)));
    CHECK(same(ht::sum(x, {.axis = std::optional<int>()}), global.sum()));
    CHECK(same(ht::argmax(x, std::optional<int>(1)), global.argmax(1)));
    CHECK(same(ht::sum(x, none), global));
    CHECK(same(ht::sum(x, std::vector<int>{1}), global.sum(1)));
    CHECK(same(ht::sum(x, {.axis = 0, .keepdims = true}), global.sum(0, true)));
    CHECK(same(ht::sum(x, {.axis = {0, 1}}), global.sum(at::IntArrayRef{0, 1})));
    CHECK(same(ht::max(x, {}), global.max()));
    CHECK(same(ht::max(x, {0, 1}), global.amax(at::IntArrayRef{0, 1})));
    CHECK(same(ht::argmax(x, {}), global.argmax()));
    CHECK(same(ht::cumsum(x, {}), global.flatten().cumsum(0)));
  }
}
