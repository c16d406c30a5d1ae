#include "../../support.hpp"

#include <heatpp/ops/calculus/calculus.hpp>
#include <heatpp/ops/creation/creation.hpp>
#include <heatpp/ops/creation/packbits.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/shape/reshape.hpp>

TEST_CASE("differences, derivatives and integrals", "[ops][calculus]") {
  const auto global = (at::arange(5 * 4 * 3, at::kDouble) * 1.7).sin().reshape({5, 4, 3});
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    for (const int axis : {0, 1, 2}) {
      CHECK(same(ht::diff(x, {.axis = axis}), at::diff(global, 1, axis)));
      CHECK(same(ht::diff(x, {.n = 2, .axis = axis}), at::diff(global, 2, axis)));
      CHECK(close(ht::gradient(x, {.axis = axis, .spacing = 0.5}), at::gradient(global, at::Scalar(0.5), axis)[0]));
      CHECK(ht::gradient(x, {.axis = axis}).layout() == layout);
      CHECK(close(ht::trapezoid(x, {.axis = axis, .dx = 0.25}), at::trapezoid(global, 0.25, axis)));
    }
    const auto where = at::tensor({0., 1., 1.5, 4.}, at::kDouble);
    const auto at_points = distribute(where, ht::Layout({4}, 0, ht::world().size()));
    CHECK(close(ht::gradient(x, {.axis = 1, .coordinates = at_points}),
                at::gradient(global, {where}, at::IntArrayRef{1})[0]));
    CHECK(close(ht::trapezoid(x, {.axis = 1, .x = at_points}), at::trapezoid(global, where.unsqueeze(1), 1)));
    CHECK(same(ht::diff(x > 0, {.axis = 0}), at::diff(global > 0, 1, 0)));
    CHECK(same(ht::diff(x, {.axis = 0, .prepend = x, .append = x}), at::diff(at::cat({global, global, global}), 1, 0)));
  }
  for (const auto& layout : every_layout({6})) {
    const auto steps =
        at::tensor({0., 2.5, 5., 7.5 - 6.28318530717958648, 3.7168146928204138, 6.2168146928204138}, at::kDouble);
    CHECK(close(ht::unwrap(distribute(steps, layout)), at::arange(6, at::kDouble) * 2.5, 1e-9));
    const auto x = at::tensor({-1., 0., 0.5, 1.75, 3., 9.}, at::kDouble);
    const auto xp = at::tensor({0., 1., 3.}, at::kDouble), fp = at::tensor({1., 3., -1.}, at::kDouble);
    for (const auto& cut : every_layout({3})) {
      const std::pair points{distribute(xp, cut), distribute(fp, cut)};
      CHECK(close(ht::interp(distribute(x, layout), points), at::tensor({1., 1., 2., 1.5, -1., -1.}, at::kDouble)));
      CHECK(close(ht::interp(distribute(x, layout), points, {.left = 7, .right = 8}),
                  at::tensor({7., 1., 2., 1.5, -1., 8.}, at::kDouble)));
    }
  }
  CHECK_THROWS_AS(ht::gradient(ht::ones({1})), ht::ValueError);
  CHECK_THROWS_AS(ht::diff(ht::full({}, 1.0)), ht::ValueError);
}

TEST_CASE("arrays are made from formulas", "[ops][creation]") {
  for (const std::optional<int> split : {std::optional<int>(), std::optional<int>(0)}) {
    const ht::ArrayOptions options{.dtype = ht::float64, .split = split};
    CHECK(close(ht::logspace(0, 3, 7, options), at::logspace(0, 3, 7, 10., at::kDouble)));
    CHECK(close(ht::geomspace(-1, -1000, 4, options), at::tensor({-1., -10., -100., -1000.}, at::kDouble)));
    CHECK(close(ht::hanning(7, options), at::hann_window(7, false, at::kDouble)));
    CHECK(close(ht::hamming(7, options), at::hamming_window(7, false, at::kDouble)));
    CHECK(close(ht::blackman(7, options), at::blackman_window(7, false, at::kDouble)));
    CHECK(close(ht::bartlett(7, options), at::bartlett_window(7, false, at::kDouble)));
    CHECK(close(ht::kaiser(7, 4.5, options), at::kaiser_window(7, false, 4.5, at::kDouble), 1e-9));
    CHECK(same(ht::hanning(1, options), at::ones({1}, at::kDouble)));
    CHECK(same(ht::fromiter(std::vector<double>{1, 2, 3}, options), at::tensor({1., 2., 3.}, at::kDouble)));
    const auto f = [](const std::vector<ht::DNDarray>& i) { return i[0] * 10 + i[1]; };
    CHECK(same(ht::fromfunction(f, {3, 4}, {.split = split}), (at::arange(3) * 10).unsqueeze(1) + at::arange(4)));
    const auto a = at::arange(3), b = at::arange(4) * 2;
    const auto grids = ht::meshgrid({ht::arange(3, {.split = split}), ht::arange(4) * 2});
    CHECK(same(grids[0], at::meshgrid({a, b}, "xy")[0]));
    CHECK(same(grids[1], at::meshgrid({a, b}, "xy")[1]));
    CHECK(same(ht::meshgrid({ht::arange(3, {.split = split}), ht::arange(4) * 2}, ht::Indexing::ij)[0],
               at::meshgrid({a, b}, "ij")[0]));
  }
  const auto all = at::stack({at::arange(3).unsqueeze(1).expand({3, 4}), at::arange(4).expand({3, 4})});
  for (const std::optional<int> split :
       {std::optional<int>(), std::optional<int>(0), std::optional<int>(1), std::optional<int>(2)})
    CHECK(same(ht::indices({3, 4}, {.split = split}), all));
  const auto bits = at::tensor({1, 0, 0, 0, 0, 0, 1, 1, 0, 1}).to(at::kBool).unsqueeze(1).expand({10, 2});
  for (const auto& layout : every_layout({10, 2})) {
    const auto packed = ht::packbits(distribute(bits, layout), 0);
    CHECK(same(packed, at::tensor({131, 131, 64, 64}).to(at::kByte).reshape({2, 2})));
    CHECK(same(ht::unpackbits(packed, 0), at::constant_pad_nd(bits.to(at::kByte), {0, 0, 0, 6}, 0)));
  }
}

TEST_CASE("a gradient of second order at the ends is exact for parabolas", "[ops][calculus]") {
  const auto points = at::tensor({0., 1., 3., 4., 7.}, at::kDouble), even = at::arange(5, at::kDouble);
  for (const auto& layout : every_layout({5})) {
    const auto x = distribute(points, layout);
    CHECK(close(ht::gradient(x * x, {.coordinates = x, .edge_order = 2}), points * 2));
    const auto y = distribute(even, layout);
    CHECK(close(ht::gradient(y * y, {.spacing = 0.5, .edge_order = 2}), even * 4));
    CHECK_THROWS_AS(ht::gradient(x, {.edge_order = 3}), ht::ValueError);
  }
}

TEST_CASE("interpolation passes through infinite values and over a period", "[ops][calculus]") {
  const auto wanted = at::tensor({0., 1., 1.5, 2., 3., 9.}, at::kDouble);
  const auto xp = ht::array({1, 2, 4}), infinite = ht::array({1.0, INFINITY, 2.0}), fp = ht::array({10.0, 20.0, 0.0});
  for (const auto& layout : every_layout({6})) {
    const auto x = distribute(wanted, layout);
    CHECK(same(ht::interp(x, {xp, infinite}), at::tensor({1., 1., INFINITY, INFINITY, INFINITY, 2.}, at::kDouble)));
    CHECK(close(ht::interp(x, {xp, fp}, {.period = 5}), at::tensor({5., 10., 15., 20., 10., 0.}, at::kDouble)));
  }
  CHECK_THROWS_AS(ht::interp(xp, {xp, fp}, {.period = 0}), ht::ValueError);
  const auto undefined = ht::array({0.0, static_cast<double>(NAN)});
  for (const auto& layout : every_layout({3}))
    CHECK(same(ht::interp(distribute(at::tensor({-1., 0., 0.5}, at::kDouble), layout), {undefined, ht::array({3, 7})}),
               at::tensor({3., 3., NAN}, at::kDouble)));
}

TEST_CASE("bits are packed in either order, and flattened", "[ops][calculus]") {
  const auto bits = at::tensor({1, 0, 1, 0, 1, 1, 0, 0, 1}).reshape({3, 3}).to(at::kBool);
  for (const auto& layout : every_layout({3, 3})) {
    const auto x = distribute(bits, layout);
    CHECK(same(ht::packbits(x), at::tensor({0b10101100, 0b10000000}).to(at::kByte)));
    CHECK(same(ht::packbits(x, 1, ht::BitOrder::little), at::tensor({5, 6, 4}).reshape({3, 1}).to(at::kByte)));
    CHECK(same(
        ht::unpackbits(ht::packbits(x, 1, ht::BitOrder::little), 1, ht::BitOrder::little)(ht::all_of, ht::slice(0, 3)),
        bits.to(at::kByte)));
  }
}

TEST_CASE("truth values have no gradient", "[ops][calculus]") {
  CHECK_THROWS_AS(ht::gradient(ht::ones({4}, {.dtype = ht::bool_, .split = 0})), ht::TypeError);
}

TEST_CASE("gradients along several axes, at distances or places", "[ops][calculus][host]") {
  const auto global = (at::arange(20, at::kDouble) * 0.618).frac().reshape({4, 5});
  const auto places = ht::array({0.0, 1.0, 3.0, 3.5}).astype(ht::float64);
  for (const auto& layout : every_layout({4, 5})) {
    const auto x = distribute(global, layout);
    const auto all = ht::gradients(x);
    REQUIRE(all.size() == 2);
    CHECK(same(all[0], gathered(ht::gradient(x, {.axis = 0}))));
    CHECK(same(all[1], gathered(ht::gradient(x, {.axis = 1}))));
    CHECK(all[1].layout() == layout);
    const auto mixed = ht::gradients(x, {.axis = {1, 0}, .spacing = {0.5, places}, .edge_order = 2});
    CHECK(close(mixed[0], gathered(ht::gradient(x, {.axis = 1, .edge_order = 2})) * 2));
    CHECK(same(mixed[1], gathered(ht::gradient(x, {.axis = 0, .coordinates = places, .edge_order = 2}))));
    CHECK(same(ht::gradients(x, {.axis = 1, .spacing = {ht::full({}, 2)}})[0], gathered(all[1]) / 2));
    CHECK_THROWS_AS(ht::gradients(x, {.spacing = {1, 2, 3}}), ht::ValueError);
    CHECK_THROWS_AS(ht::gradient(x, {.axis = 1, .coordinates = places}), ht::ValueError);
  }
}

TEST_CASE("the derivative beside a NaN does not know it", "[ops][calculus]") {
  const auto global = at::tensor({1., 4., NAN, 2., 8., 9.}, at::kDouble);
  for (const auto& layout : every_layout({6})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::gradient(x), at::tensor({3., NAN, -1., NAN, 3.5, 1.}, at::kDouble)));
    CHECK(same(ht::gradient(x, {.spacing = 2, .edge_order = 2}),
               at::tensor({NAN, NAN, -0.5, NAN, 1.75, -0.75}, at::kDouble)));
  }
}

TEST_CASE("places at one distance are a spacing", "[ops][calculus]") {
  const auto global = at::tensor({1., 4., INFINITY, 2., NAN, 9.}, at::kDouble);
  const auto slopes = at::tensor({6., INFINITY, -2., NAN, 7., NAN}, at::kDouble);
  for (const auto& layout : every_layout({6}))
    for (const auto& other : every_layout({6})) {
      const auto x = distribute(global, layout), places = distribute(at::arange(6, at::kDouble) / 2, other);
      CHECK(same(ht::gradient(x, {.coordinates = places}), slopes));
      CHECK(same(ht::gradient(x, {.coordinates = distribute(at::arange(6), other)}), slopes / 2));
      CHECK(same(ht::gradient(x, {.coordinates = places * places})(ht::slice(0, 2)),
                 at::tensor({12., INFINITY}, at::kDouble)));
      CHECK_THROWS_WITH(ht::gradients(x, {.axis = {0, -1}}),
                        Catch::Contains("[gradients] got axes (0, -1) with one twice"));
    }
}

TEST_CASE("differences from a number before the first element", "[ops][calculus][host]") {
  const auto global = at::arange(12, at::kDouble).square().reshape({4, 3});
  for (const auto& layout : every_layout({4, 3})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::diff(x, {.axis = 0, .prepend = 7, .append = ht::full({}, 1.0, {.dtype = ht::float64})}),
               at::cat({at::full({1, 3}, 7., at::kDouble), global, at::ones({1, 3}, at::kDouble)}).diff(1, 0)));
  }
}

TEST_CASE("interpolation of complex values is that of their parts", "[ops][calculus]") {
  const auto xp = ht::array({1.0, 2.0, 4.0}), re = ht::array({0.0, 1.0, -1.0}), im = ht::array({5.0, 3.0, 1.0});
  const auto values = re + im * std::complex<double>(0, 1);
  for (const auto& layout : every_layout({5})) {
    const auto x = distribute(at::tensor({0., 1.5, 2., 3., 9.}, at::kDouble), layout);
    const auto result = ht::interp(x, {xp, values});
    CHECK(same(ht::real(result), gathered(ht::interp(x, {xp, re}))));
    CHECK(same(ht::imag(result), gathered(ht::interp(x, {xp, im}))));
    CHECK(same(ht::imag(ht::interp(ht::full_like(x, NAN), {xp, values})), at::zeros({5}, at::kDouble)));
    CHECK_THROWS_AS(ht::interp(result, {xp, re}), ht::TypeError);
  }
}

TEST_CASE("derivatives and integrals at places of their own", "[ops][calculus][host]") {
  const auto line = at::tensor({1.f, 2.f, 4.f, 7.f});
  const auto y = at::arange(12, at::kDouble).reshape({4, 3}), x = y * y;
  for (const auto& layout : every_layout({4})) {
    const auto far = ht::array({1e9, 1e9 + 1, 1e9 + 2, 1e9 + 4}, {.dtype = ht::float64});
    const auto slopes = ht::gradient(distribute(line, layout), {.coordinates = far});
    CHECK(same(slopes, at::tensor({1.f, 1.5f, 11 / 6.f, 1.5f})));
    CHECK(same(ht::diff(distribute(line, layout), {.n = 0, .prepend = 2}), line));
  }
  for (const auto& layout : every_layout({4, 3})) {
    const auto area = ht::trapezoid(distribute(y, layout), {.axis = 0, .x = distribute(x, layout)});
    CHECK(same(area, at::trapezoid(y, x, 0)));
  }
  CHECK(same(ht::diff(ht::array({true, false}), {.prepend = true}), at::tensor({0, 1}).to(at::kBool)));
  const auto points = std::pair(ht::array({0.0, 1.0}), ht::array({0.0, 1.0}) * std::complex<double>(1, 1));
  const auto beyond = ht::interp(ht::array({-1.0, 2.0}), points, {.left = 1, .right = 2});
  CHECK(same(ht::imag(beyond), at::zeros({2}, at::kDouble)));
}

TEST_CASE("numbers between arrays and numbers", "[ops][creation]") {
  const auto ends = ht::array({49.0, 98.0}, {.dtype = ht::float64});
  const auto whole = ht::linspace(0, ends, {.num = 50, .dtype = ht::int64});
  CHECK(same(whole, at::stack({at::arange(50), at::arange(50) * 2}, 1)));
  CHECK(ht::linspace(0.1, ends, {.num = 4})(0, 0).item<double>() == 0.1);
  CHECK(ht::geomspace(1e-200, 1e-180, 5).size() == 5);
  CHECK(same(ht::geomspace(-3, 3, 4, {.split = 0}), at::tensor({-3., NAN, NAN, 3.}, at::kFloat)));
  CHECK_THROWS_AS(ht::geomspace(-1, 0, 5), ht::ValueError);
  CHECK(same(ht::kaiser(5, -2), gathered(ht::kaiser(5, 2))));
}

TEST_CASE("positions may have more axes than the values", "[ops][calculus][host]") {
  const auto places = (at::arange(24, at::kDouble) * 0.618).frac().reshape({6, 4}).cumsum(1);
  const auto heights = at::tensor({1., 3., 2., 5.});
  const auto expected = (places.diff(1, 1) * at::tensor({2., 2.5, 3.5})).sum(1);
  for (const auto& layout : every_layout({6, 4}))
    CHECK(close(ht::trapezoid(ht::from_tensor(heights), {.x = distribute(places, layout)}), expected));
}

TEST_CASE("one array of coordinates is not for several axes", "[ops][calculus]") {
  const auto x = ht::reshape(ht::arange(25, {.dtype = ht::float64, .split = 0}), {5, 5});
  const auto places = ht::array({1.0, 2.0, 3.0, 4.0, 6.0});
  CHECK_THROWS_AS(ht::gradients(x, {.spacing = {places}}), ht::ValueError);
  CHECK(ht::gradients(x, {.axis = 1, .spacing = {places}}).size() == 1);
  CHECK(ht::gradients(x, {.spacing = {ht::full({}, 2)}}).size() == 2);
}
