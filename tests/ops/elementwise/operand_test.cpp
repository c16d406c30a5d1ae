#include "../../support.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/fft/fft.hpp>
#include <heatpp/ops/creation/creation.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/joining/repeat.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/padding/pad.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/selection/selection.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

TEST_CASE("arrays are written with elements of their own memory", "[ops][elementwise]") {
  const auto global = at::arange(16, at::kDouble).reshape({4, 4});
  for (const auto& layout : every_layout({4, 4})) {
    const auto fresh = [&] { return distribute(global, layout); };
    const auto all = ht::slice(std::nullopt, std::nullopt);
    auto x = fresh();
    ht::subtract_(x, x(all, ht::slice(0, 1)));
    CHECK(same(x, global - global.narrow(1, 0, 1)));
    x = fresh();
    ht::add_(x(ht::slice(1, 4)), x(ht::slice(0, 3)));
    CHECK(same(x, at::cat({global.narrow(0, 0, 1), global.narrow(0, 1, 3) + global.narrow(0, 0, 3)})));
    x = fresh();
    ht::add_(x, ht::transpose(x));
    CHECK(same(x, global + global.t()));
    x = fresh();
    ht::multiply_(x, x(1, 1));
    CHECK(same(x, global * 5));
    x = fresh();
    ht::add_(x, x);
    CHECK(same(x, global * 2));
  }
}

TEST_CASE("results are values, also if they share memory with their arguments", "[ops][elementwise]") {
  const auto in_place = [](ht::DNDarray result) { result += 1; };
  const auto whole = ht::arange(4), number = ht::ones({4});
  for (const auto& result : {ht::positive(whole), ht::floor(whole), ht::round(whole), ht::conj(number),
                             ht::clip(whole, std::nullopt, std::nullopt)})
    in_place(result);
  CHECK(same(whole, at::arange(4)));
  CHECK(same(number, at::ones({4})));
  for (const auto& layout : every_layout({2, 3})) {
    const auto x = distribute(at::arange(6).reshape({2, 3}), layout);
    for (const auto& result :
         {ht::tile(x, {1}), ht::tile(x, {1, 1, 1}), ht::pad(x, {{0, 0}}), ht::roll(x, 1, std::vector<int>{}),
          ht::roll(x, {3, -3}, 1), ht::fft::fftshift(x, ht::Axes(std::vector<int>{})), ht::block(x),
          ht::meshgrid({ht::flatten(x)}).front()})
      in_place(result);
    CHECK(same(x, at::arange(6).reshape({2, 3})));
  }
  for (const bool sparse : {false, true}) {
    const auto v = ht::arange(3, {.split = 0});
    auto grid = ht::meshgrid({v, ht::arange(2)}, {.sparse = sparse}).front();
    CHECK(same(grid += 1, (at::arange(3) + 1).expand({sparse ? 1 : 2, 3})));
    CHECK(same(v, at::arange(3)));
    CHECK(ht::meshgrid({v}, {.sparse = sparse, .copy = false}).front().larray().is_alias_of(v.larray()));
  }
}

TEST_CASE("whole numbers compare with others exactly", "[ops][elementwise]") {
  const auto x = ht::array({std::int64_t{1234567891}, std::int64_t{16777217}}, {.split = 0});
  const auto floats = ht::array({1234567891.0, 16777216.0}).astype(ht::float32);
  const auto is = [](bool a, bool b) { return at::tensor({int{a}, int{b}}).to(at::kBool); };
  CHECK(same(x > 1234567890.5, is(true, false)));
  CHECK(same(ht::eq(x.astype(ht::int32), 16777216.0), is(false, false)));
  CHECK(same(ht::not_equal(x, floats), is(true, true)));
  CHECK(same(x <= floats, is(true, false)));
  CHECK(same(ht::isclose(x, x + 1, {.rtol = 1e-10, .atol = 0}), is(false, false)));
  CHECK(same(ht::logical_and(x.astype(ht::uint8), 300), is(true, true)));
}

TEST_CASE("the tolerance beside a number is one of float64", "[ops][elementwise]") {
  const auto x = ht::array({1.0, 1e50, 1.1e50}, {.dtype = ht::float64, .split = 0});
  CHECK(same(ht::isclose(x, 1e50), at::tensor({0, 1, 0}).to(at::kBool)));
  CHECK(ht::allclose(ht::array({1.2e-50}, {.dtype = ht::float64}), 1e-50, {.rtol = 0.5, .atol = 0}));
  CHECK(ht::allclose(ht::array({double{INFINITY}}), 1, {.atol = INFINITY}));
  CHECK(!ht::allclose(ht::array({double{NAN}}), double{NAN}));
  CHECK(ht::allclose(ht::array({double{NAN}}), double{NAN}, {.equal_nan = true}));
}

TEST_CASE("16-bit floats beside complex numbers are complex64", "[ops][elementwise]") {
  const auto x = ht::ones({3}, {.dtype = ht::float16, .split = 0});
  const std::complex<double> i(0, 1);
  CHECK(same(x + i, at::full({3}, c10::complex<float>(1, 1))));
  CHECK(same(ht::where(x > 2, x, i), at::full({3}, c10::complex<float>(0, 1))));
}

TEST_CASE("broadcast arrays are written to as any array", "[ops][elementwise]") {
  const auto global = at::arange(3, at::kDouble).reshape({1, 3}), stretched = global.expand({4, 3});
  for (const auto& layout : every_layout({1, 3})) {
    const auto x = distribute(global, layout);
    const auto wide = ht::broadcast_to(x, {4, 3});
    for (auto y : {wide, ht::transpose(wide), wide(ht::slice(1, std::nullopt)), ht::expand_dims(wide, 0),
                   ht::diagonal(wide), ht::real(wide)}) {
      CHECK(y.is_writable());
      const auto before = gathered(y);
      CHECK(same(y += 1, before + 1));
      CHECK(same(ht::negative_(y), -before - 1));
      y.index_put({0}, 1);
      CHECK(same(y(0), at::ones_like(before[0])));
      ht::put(y, ht::array({0}), 5);
      CHECK(ht::flatten(y)(0).item<double>() == 5);
    }
    CHECK(same(wide, stretched));
    CHECK(same(x, global));
    auto own = wide;
    own += wide;
    CHECK(same(own, stretched * 2));
  }
}

TEST_CASE("values of a later kind are refused in place", "[ops][elementwise][host]") {
  const std::vector<std::pair<ht::Dtype, int>> kinds{{ht::bool_, 0}, {ht::uint8, 1},   {ht::int8, 2},
                                                     {ht::int64, 2}, {ht::float32, 3}, {ht::complex64, 4}};
  for (const auto& layout : every_layout({4}))
    for (const auto& [dtype, kind] : kinds)
      for (const auto& [of_values, kind_of_values] : kinds) {
        auto x = distribute(at::ones({4}), layout).astype(dtype);
        const auto values = ht::ones({4}, {.dtype = of_values, .split = 0});
        if (kind_of_values > kind) CHECK_THROWS_AS(x *= values, ht::TypeError);
        else CHECK(same(x *= values, gathered(ht::ones({4}, {.dtype = dtype}))));
      }
  auto x = ht::ones({4}, {.dtype = ht::uint8, .split = 0});
  CHECK_THROWS_WITH(ht::add_(x, ht::ones({4}, {.dtype = ht::int8})),
                    Catch::Contains("[add_] got values of int8 for an array of uint8; expected a dtype of its kind"));
  CHECK(same(x += 254, at::full({4}, 255, at::kByte)));
  CHECK_THROWS_AS(x += -1, ht::ValueError);
}

TEST_CASE("in place operands meet in the dtype that holds both, and results are rounded once",
          "[ops][elementwise][host]") {
  const auto numbers = at::tensor({1.0, -3.0, 5.0, 0.1});
  const auto whole = at::tensor({16777217, 33554435, -16777219, 7});
  for (const auto& layout : every_layout({4}))
    for (const auto type : {at::kFloat, at::kComplexFloat})
      for (const auto other : {at::kInt, at::kLong, at::kDouble, at::kComplexDouble}) {
        if (other == at::kComplexDouble && type == at::kFloat) continue;
        const auto a = numbers.to(type), b = other == at::kDouble ? whole + 0.3 : whole.to(other);
        const auto wide = type == at::kFloat ? at::kDouble : at::kComplexDouble;
        const auto in_place = [&](auto f) {
          auto x = distribute(a, layout);
          f(x, distribute(b, layout));
          return gathered(x);
        };
        const auto sum = in_place([](auto& x, const auto& y) { x += y; });
        const auto difference = in_place([](auto& x, const auto& y) { x -= y; });
        const auto product = in_place([](auto& x, const auto& y) { x *= y; });
        CHECK(equals(sum, (a.to(wide) + b.to(wide)).to(type)));
        CHECK(equals(difference, (a.to(wide) - b.to(wide)).to(type)));
        CHECK(equals(product, (a.to(wide) * b.to(wide)).to(type)));
        if (type == at::kFloat) {
          const auto rest = in_place([](auto& x, const auto& y) { x %= y; });
          CHECK(equals(rest, at::remainder(a.to(wide), b.to(wide)).to(type)));
        }
      }
  auto x = distribute(numbers.to(at::kFloat), every_layout({4}).back());
  x += ht::full({}, 0.1, {.dtype = ht::float64});  // an array without axes does not count as a number
  CHECK(same(x, (numbers.to(at::kFloat).to(at::kDouble) + 0.1).to(at::kFloat)));
}

TEST_CASE("numbers are multiplied with powers of two beyond the range of factors", "[ops][elementwise]") {
  const auto x = at::tensor({0., 1., -2., double{INFINITY}, 3., 5e-324, double{NAN}}, at::kDouble);
  const std::vector<std::int64_t> exponents{70000, 1LL << 40, 1LL << 40, -(1LL << 40), -1076, 1100, 5};
  const auto power = at::tensor(exponents, at::kLong);
  const auto expected = at::tensor(
      {0., double{INFINITY}, -double{INFINITY}, double{INFINITY}, 5e-324, 67108864., double{NAN}}, at::kDouble);
  for (const auto& layout : every_layout({7}))
    for (const auto& other : every_layout({7})) {
      const auto a = distribute(x, layout), b = distribute(power, other);
      CHECK(same(ht::ldexp(a, b), expected));
      CHECK(same(ht::ldexp(a, b > 0), x * at::where(power > 0, 2., 1.)));
    }
  CHECK(ht::ldexp(ht::array({1e-40}).astype(ht::float32), 150).item<float>() == std::ldexp(1e-40F, 150));
  CHECK(ht::ldexp(ht::array({3}), 2).dtype() == ht::float64);
  CHECK_THROWS_AS(ht::ldexp(ht::ones({2}, {.dtype = ht::complex64}), 2), ht::TypeError);
  CHECK_THROWS_WITH(ht::ldexp(ht::ones({2}), 2.0), Catch::Contains("[ldexp] got exponents of float32"));
  CHECK(same(ht::ldexp(ht::ones({2}), ht::full({}, 3)), at::full({2}, 8.)));
  CHECK_THROWS_AS(ht::ldexp(ht::ones({2}), ht::ones({2}, {.split = 0})), ht::TypeError);
  const auto all = at::arange(-1080, 1030);
  const auto powers = gathered(ht::ldexp(ht::full({}, 1.5, {.dtype = ht::float64}), ht::from_tensor(all, {})));
  bool exact = true;
  for (std::int64_t i = 0; i < all.numel(); ++i)
    exact = exact && powers[i].item<double>() == std::ldexp(1.5, static_cast<int>(i) - 1080);
  CHECK(exact);
}

TEST_CASE("clip computes in the common layout of its operands", "[ops][elementwise]") {
  const auto far = std::int64_t{1} << 40;
  for (const auto& layout : every_layout({3}))
    for (const auto& other : every_layout({3})) {
      const auto x = distribute(at::tensor({-7, 0, 9}, at::kInt), layout);
      const auto high = distribute(at::tensor({-8., 2.5, 5.}, at::kDouble), other);
      CHECK(same(ht::clip(x, -far, high), at::tensor({-8., 0., 5.}, at::kDouble)));
      CHECK(same(ht::clip(x, 0.1, high), at::tensor({-8., 0.1, 5.}, at::kDouble)));
      CHECK(same(ht::clip(x > 0, 3, high.astype(ht::int32)), at::tensor({-8, 2, 3}, at::kInt)));
      CHECK(same(ht::clip(x, -far, std::nullopt), at::tensor({-7, 0, 9}, at::kInt)));
      CHECK(same(ht::clip(x, std::nullopt, far), at::tensor({-7, 0, 9}, at::kInt)));
      CHECK_THROWS_WITH(ht::clip(x, far, std::nullopt), Catch::Contains("[clip] got the number 1099511627776"));
      CHECK_THROWS_AS(ht::clip(x, far, far), ht::ValueError);
    }
}

TEST_CASE("numbers do not widen 16-bit floats, and bool has no sign", "[ops][elementwise]") {
  for (const ht::Shape& shape : {ht::Shape{}, {3}})
    for (const auto& layout : every_layout(shape)) {
      const auto x = distribute(at::ones(shape, at::kHalf), layout);
      CHECK(ht::hypot(x, 2).dtype() == ht::float16);
      CHECK(ht::heaviside(x, 2).dtype() == ht::float16);
      CHECK(ht::hypot(x, x.astype(ht::int8)).dtype() == ht::float16);
      CHECK(ht::hypot(x, x.astype(ht::int64)).dtype() == ht::float64);
      CHECK(ht::logaddexp(x > 0, x > 0).dtype() == ht::float32);
      CHECK_THROWS_AS(ht::sign(x > 0), ht::TypeError);
    }
}

TEST_CASE("clip between two numbers is NumPy's at its limits", "[ops][elementwise]") {
  const auto global = at::tensor({1., 5., double{NAN}, -0., 0., double{INFINITY}}, at::kDouble);
  for (const auto& layout : every_layout({6})) {
    const auto x = distribute(global, layout), narrow = x.astype(ht::float32);
    CHECK(same(ht::clip(x, 3, 2), at::tensor({2., 2., double{NAN}, 2., 2., 2.}, at::kDouble)));
    CHECK(same(ht::clip(x, NAN, 2), at::full({6}, NAN, at::kDouble)));
    CHECK(same(ht::clip(x, 0, NAN), at::full({6}, NAN, at::kDouble)));
    CHECK(same(ht::signbit(ht::clip(x, 0.0, 1)), at::tensor({0, 0, 0, 1, 0, 0}).to(at::kBool)));
    CHECK(same(ht::signbit(ht::clip(x, -1, -0.0))(ht::slice(3, 5)), at::tensor({1, 0}).to(at::kBool)));
    CHECK(same(ht::clip(narrow, -1e300, 1e300), global.to(at::kFloat)));
    CHECK(same(ht::clip(narrow.astype(ht::float16), 0.5, 1e9), global.to(at::kHalf).clamp_min(0.5)));
    CHECK(same(ht::clip(x > 0, true, true), at::ones({6}, at::kBool)));
    CHECK(same(ht::clip(x > 2, 0, 7), at::tensor({0, 1, 0, 0, 0, 1}, at::kLong)));
  }
}

TEST_CASE("16-bit floats lie as far apart as NumPy says", "[ops][elementwise]") {
  const auto halves =
      at::tensor({1., -1., -1.5, 65504., -65504., 0., -0., double{INFINITY}, -double{INFINITY}, NAN}, at::kDouble);
  const auto apart =
      at::tensor({0x1p-10, 0x1p-11, 0x1p-10, double{INFINITY}, 32., 0x1p-24, 0x1p-24, NAN, NAN, NAN}, at::kDouble);
  for (const auto& layout : every_layout({10})) {
    const auto x = distribute(halves.to(at::kHalf), layout);
    CHECK(same(ht::spacing(x), apart.to(at::kHalf)));
    CHECK(same(ht::signbit(ht::spacing(x)), at::zeros({10}, at::kBool)));
    CHECK(same(ht::spacing(x.astype(ht::bfloat16))(ht::slice(0, 2)), at::tensor({0x1p-7, -0x1p-7}).to(at::kBFloat16)));
  }
}

TEST_CASE("complex functions are NumPy's at their limits", "[ops][elementwise]") {
  using Number = c10::complex<double>;
  const auto of = [](std::vector<Number> numbers) { return at::tensor(numbers, at::kComplexDouble); };
  const auto signs = [](const ht::DNDarray& x) { return at::signbit(at::imag(gathered(x))).to(at::kLong); };
  const auto bases = of({{1, INFINITY}, 0, {1, 2}, {0, -2}});
  for (const auto& layout : every_layout({4})) {
    const auto z = distribute(bases, layout);
    CHECK(same(ht::power(z, 1), bases));
    CHECK(same(ht::power(z, 3), bases * (bases * bases)));
    CHECK(same(ht::imag(ht::power(z, -1)), at::imag(of({{0, -0.0}, {0, NAN}, {0, -0.4}, {0, 0.5}}))));
    CHECK(same(ht::real(ht::power(z, std::complex(1.0, 0.5)))(1), at::zeros({}, at::kDouble)));
    CHECK(same(ht::isnan(ht::float_power(z, distribute(at::complex(at::zeros({4}), at::ones({4})), layout)))(1),
               at::ones({}, at::kBool)));
    auto y = ht::copy(z);
    ht::power_(y, 2);
    CHECK(same(y, bases * bases));
    CHECK(same(ht::real(ht::log1p(z)), at::real(at::log1p(bases)).masked_fill(at::isinf(bases), INFINITY)));
  }
  for (const auto& layout : every_layout({3})) {
    CHECK(equals(signs(ht::reciprocal(distribute(of({1, {0, -2}, {-4, -0.0}}), layout))),
                 at::tensor({1, 0, 0}, at::kLong)));
    CHECK(equals(signs(ht::arccos(distribute(of({0.5, {-0.5, -0.0}, 0}), layout))), at::tensor({1, 0, 1}, at::kLong)));
  }
}
