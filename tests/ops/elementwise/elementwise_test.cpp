#include "../../support.hpp"

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/reduce.hpp>

#include <algorithm>
#include <cmath>

namespace {

at::Tensor numbers(const ht::Shape& shape, double shift = 0.5) {
  return at::arange(ht::size_of(shape), at::kDouble).reshape(shape) * 0.37 - shift;
}

}  // namespace

TEST_CASE("unary functions equal LibTorch's for every layout", "[ops][elementwise]") {
  const auto global = numbers({5, 3});
  for (const auto& layout : every_layout({5, 3})) {
    const auto x = distribute(global, layout);
    CHECK(close(ht::sqrt(x), global.sqrt()));
    CHECK(same(ht::exp(x), global.exp()));
    CHECK(same(-x, -global));
    CHECK(same(ht::round(x), global.round()));
    CHECK(same(ht::isnan(ht::sqrt(x)), global.sqrt().isnan()));
    CHECK(ht::abs(x).layout() == layout);
  }
}

TEST_CASE("binary functions take any mix of layouts", "[ops][elementwise]") {
  const auto a = numbers({4, 5}), b = numbers({4, 5}, 2);
  for (const auto& layout_a : every_layout({4, 5}))
    for (const auto& layout_b : every_layout({4, 5})) {
      const auto x = distribute(a, layout_a), y = distribute(b, layout_b);
      CHECK(same(x + y, a + b));
      CHECK(same(x < y, a < b));
      CHECK(same(ht::where(x < y, x, y), at::minimum(a, b)));
    }
}

TEST_CASE("operands broadcast from every layout", "[ops][elementwise]") {
  const auto a = numbers({4, 5}), row = numbers({5}), column = numbers({4, 1}), one = numbers({1, 1}),
             cube = numbers({3, 1, 5});
  for (const auto& layout : every_layout({4, 5})) {
    const auto x = distribute(a, layout);
    for (const auto& l : every_layout({5})) CHECK(same(x * distribute(row, l), a * row));
    for (const auto& l : every_layout({4, 1})) CHECK(same(distribute(column, l) - x, column - a));
    for (const auto& l : every_layout({1, 1})) CHECK(same(x / distribute(one, l), a / one));
    for (const auto& l : every_layout({3, 1, 5})) CHECK(same(x + distribute(cube, l), a + cube));
  }
  for (const auto& l : every_layout({4, 1}))
    for (const auto& m : every_layout({5})) CHECK(same(distribute(column, l) * distribute(row, m), column * row));
}

TEST_CASE("empty arrays broadcast", "[ops][elementwise]") {
  for (const auto& layout : every_layout({0, 3}))
    CHECK((distribute(at::zeros({0, 3}), layout) + 1).shape() == ht::Shape{0, 3});
}

TEST_CASE("numbers mix in without widening", "[ops][elementwise]") {
  const auto whole = ht::arange(4, {.dtype = ht::int8, .split = 0});
  const auto real = ht::ones({4}, {.dtype = ht::float32, .split = 0});

  CHECK((whole * 2 + 1).dtype() == ht::int8);
  CHECK((whole * 2.0).dtype() == ht::float32);
  CHECK((1.5 - real).dtype() == ht::float32);
  CHECK((whole / 2).dtype() == ht::float32);
  CHECK((real + std::complex<double>(0, 1)).dtype() == ht::complex64);
  CHECK((whole > 1).to_vector<bool>() == std::vector<bool>{false, false, true, true});
  CHECK((7 % (whole + 1)).to_vector<std::int8_t>() == std::vector<std::int8_t>{0, 1, 1, 3});
}

TEST_CASE("an array without axes promotes as an array", "[ops][elementwise]") {
  const auto single = ht::full({}, 1.0, {.dtype = ht::float64});
  CHECK((ht::ones({3}, {.split = 0}) + single).dtype() == ht::float64);
  CHECK((ht::ones({3}, {.dtype = ht::int8}) + ht::full({}, 1, {.dtype = ht::int64})).dtype() == ht::int64);
}

TEST_CASE("operators in place keep layout and memory", "[ops][elementwise]") {
  const auto a = numbers({4, 5}), b = numbers({4, 5}, 2), row = numbers({5});
  for (const auto& layout_a : every_layout({4, 5}))
    for (const auto& layout_b : every_layout({4, 5})) {
      auto x = distribute(a, layout_a);
      const auto* memory = x.larray().const_data_ptr();
      x += distribute(b, layout_b);
      x *= distribute(row, ht::Layout({5}, std::nullopt, ht::world().size()));
      x -= 1;
      x /= 2;
      CHECK(same(x, ((a + b) * row - 1) / 2));
      CHECK(x.larray().const_data_ptr() == memory);
      CHECK(x.layout() == layout_a);
    }
}

TEST_CASE("bad operands are errors on all ranks that name values", "[ops][elementwise]") {
  auto x = ht::ones({4, 5}, {.split = 0});
  CHECK_THROWS_WITH(x + ht::ones({4}), Catch::Contains("[add] got arrays of shapes (4, 5) and (4,)"));
  CHECK_THROWS_AS(x += ht::ones({3, 4, 5}), ht::ValueError);
  CHECK_THROWS_AS(x + ht::ones({4, 5}, {.comm = ht::self()}), ht::CommError);
  CHECK_THROWS_AS(ht::add(1, 2), ht::ValueError);
  CHECK_THROWS_WITH(~x, Catch::Contains("[bitwise_not] got operands of float32"));
  auto whole = ht::arange(3);
  CHECK_THROWS_AS(whole += 1.5, ht::TypeError);
}

TEST_CASE("the cheaper operand moves, is counted, and may be forbidden to", "[ops][elementwise]") {
  const auto p = ht::world().size();
  const auto big = ht::ones({4 * p, 4 * p}, {.dtype = ht::float64, .split = 1});
  const auto small = ht::ones({4 * p, 4 * p}, {.dtype = ht::int8, .split = 0});
  const auto before = ht::comm_report();

  const auto sum = big + small;

  const auto moved = ht::comm_report().redistributed_bytes - before.redistributed_bytes;
  CHECK(sum.split() == 1);
  CHECK(moved == 16 * p * (p - 1));
  ht::set_redistribution(ht::Redistribution::forbid);
  if (p > 1) CHECK_THROWS_WITH(big + small, Catch::Contains("forbid"));
  CHECK_NOTHROW(big + 1 + big);
  ht::set_redistribution(ht::Redistribution::allow);
}

TEST_CASE("equal layouts communicate nothing", "[ops][elementwise]") {
  const auto x = ht::ones({100}, {.split = 0}), r = ht::ones({100});
  const auto before = ht::comm_report().calls;
  CHECK((ht::sqrt(x) * x + r > 1).shape() == ht::Shape{100});
  CHECK(ht::comm_report().calls == before);
}

TEST_CASE("clip limits to numbers and arrays", "[ops][elementwise]") {
  const auto global = numbers({4, 5});
  for (const auto& layout : every_layout({4, 5})) {
    CHECK(same(ht::clip(distribute(global, layout), 0, 2.5), global.clamp(0, 2.5)));
  }
}

TEST_CASE("functions give NumPy's result if LibTorch's differs", "[ops][elementwise]") {
  const auto low = std::numeric_limits<std::int32_t>::min();
  for (const auto& layout : every_layout({6})) {
    const auto a = distribute(at::tensor({7, -7, 5, low, 0, 3}, at::kInt), layout),
               b = distribute(at::tensor({2, 2, 0, -1, 0, -1}, at::kInt), layout);
    CHECK(same(ht::floor_divide(a, b), at::tensor({3, -4, 0, low, 0, -3}, at::kInt)));
    CHECK(same(a % b, at::tensor({1, 1, 0, 0, 0, 0}, at::kInt)));
    CHECK(same(ht::fmod(a, b), at::tensor({1, -1, 0, 0, 0, 0}, at::kInt)));
    CHECK(same(ht::divmod(a, 2).first, at::tensor({3, -4, 2, low / 2, 0, 1}, at::kInt)));
    CHECK(same(ht::bitwise_count(b), at::tensor({1, 1, 0, 1, 0, 1}).to(at::kByte)));

    const auto x = distribute(at::tensor({NAN, -INFINITY, -0.0, 2.75, -2.75, INFINITY}, at::kDouble), layout);
    CHECK(same(ht::sign(x), at::tensor({NAN, -1., 0., 1., -1., 1.}, at::kDouble)));
    CHECK(same(ht::signbit(x), at::tensor({0, 1, 1, 0, 1, 0}).to(at::kBool)));
    CHECK(same(ht::modf(x).first, at::tensor({NAN, -0., -0., 0.75, -0.75, 0.}, at::kDouble)));
    CHECK(same(ht::modf(x).second, at::tensor({NAN, -INFINITY, -0., 2., -2., INFINITY}, at::kDouble)));
    CHECK(close(ht::cbrt(x),
                at::tensor({NAN, -INFINITY, -0., std::cbrt(2.75), -std::cbrt(2.75), INFINITY}, at::kDouble)));
    CHECK(same(ht::nan_to_num(x, {.nan = 1, .posinf = 2, .neginf = 3}),
               at::tensor({1., 3., -0., 2.75, -2.75, 2.}, at::kDouble)));
    CHECK(same(ht::isclose(x, x), at::tensor({0, 1, 1, 1, 1, 1}).to(at::kBool)));
    CHECK(same(ht::isclose(x, x, {.equal_nan = true}), at::ones({6}, at::kBool)));
    CHECK(same(ht::round(x, 1), at::tensor({NAN, -INFINITY, -0., 2.8, -2.8, INFINITY}, at::kDouble)));
    CHECK(same(ht::clip(x, -1, std::nullopt), at::tensor({NAN, -1., -0., 2.75, -1., INFINITY}, at::kDouble)));
    CHECK(same(ht::spacing(x)(ht::slice(3, 5)),
               at::tensor({4.440892098500626e-16, -4.440892098500626e-16}, at::kDouble)));
    CHECK(ht::frexp(x).second(3).item<std::int32_t>() == 2);

    const auto z = distribute(at::complex(at::tensor({1., 0., -1., 2., 0., 3.}, at::kDouble),
                                          at::tensor({0., 2., 1., 0., -1., 0.}, at::kDouble)),
                              layout);
    CHECK(same(ht::iscomplex(z), at::tensor({0, 1, 1, 0, 1, 0}).to(at::kBool)));
    CHECK(same(ht::real(ht::conj(z) * z), at::tensor({1., 4., 2., 4., 1., 9.}, at::kDouble)));
    CHECK(same(ht::imag(ht::conj(z)), at::tensor({-0., -2., -1., -0., 1., -0.}, at::kDouble)));
    CHECK(same(ht::imag(x), at::zeros({6}, at::kDouble)));
    CHECK(close(ht::angle(z)(ht::slice(1, 3)), at::tensor({1.5707963267948966, 2.356194490192345}, at::kDouble)));
  }
}

TEST_CASE("aliases and functions of two blocks equal LibTorch's", "[ops][elementwise]") {
  const auto global = numbers({5, 3}, 2), other = numbers({5, 3}, 1);
  const auto whole = at::arange(15).reshape({5, 3}), shift = at::arange(15).reshape({5, 3}) % 4;
  for (const auto& layout : every_layout({5, 3})) {
    const auto x = distribute(global, layout), y = distribute(other, layout), w = distribute(whole, layout),
               s = distribute(shift, layout);
    CHECK(same(ht::arcsinh(x), global.asinh()));
    CHECK(same(ht::asin(x), global.asin()));
    CHECK(same(ht::degrees(x), at::rad2deg(global)));
    CHECK(same(ht::sinc(x), at::sinc(global)));
    CHECK(same(ht::i0(x), at::i0(global)));
    CHECK(same(ht::fabs(w), whole.to(at::kDouble)));
    CHECK(same(ht::logaddexp2(x, y), at::logaddexp2(global, other)));
    CHECK(same(ht::logaddexp(x, w), at::logaddexp(global, whole.to(at::kFloat))));
    CHECK_THROWS_AS(ht::logaddexp(x, y.astype(ht::complex64)), ht::TypeError);
    CHECK(same(ht::nextafter(x, y), at::nextafter(global, other)));
    CHECK(same(ht::heaviside(x, y), at::heaviside(global, other)));
    CHECK(same(ht::float_power(w, s), at::float_power(whole, shift)));
    CHECK(same(ht::ldexp(x, s), at::ldexp(global, shift)));
    CHECK(same(ht::gcd(w, s), at::gcd(whole, shift)));
    CHECK(same(ht::lcm(w, s), at::lcm(whole, shift)));
    CHECK(same(w << s, at::bitwise_left_shift(whole, shift)));
    CHECK(same(ht::right_shift(w, s), at::bitwise_right_shift(whole, shift)));
    CHECK(same(ht::true_divide(x, y), global / other));
    CHECK(same(ht::equal(w, s), whole == shift));
    auto v = ht::copy(w);
    v %= 4;
    v <<= 1;
    v |= 1;
    CHECK(same(v, (whole % 4) * 2 + 1));
  }
}

TEST_CASE("uint8 is divided by 255 as by any other number", "[ops][elementwise]") {
  for (const auto& layout : every_layout({4})) {
    const auto a = distribute(at::tensor({1, 255, 254, 7}).to(at::kByte), layout),
               b = distribute(at::tensor({255, 255, 255, 0}).to(at::kByte), layout);
    CHECK(same(ht::floor_divide(a, b), at::tensor({0, 1, 0, 0}).to(at::kByte)));
    CHECK(same(ht::remainder(a, b), at::tensor({1, 0, 254, 0}).to(at::kByte)));
    CHECK(same(ht::fmod(a, b), at::tensor({1, 0, 254, 0}).to(at::kByte)));
  }
}

TEST_CASE("numbers out of range of a dtype are compared, and refused elsewhere", "[ops][elementwise]") {
  for (const auto& layout : every_layout({3})) {
    auto x = distribute(at::tensor({0, 255, 1}).to(at::kByte), layout);
    CHECK(same(x < -1, at::zeros({3}, at::kBool)));
    CHECK(same(x != 300, at::ones({3}, at::kBool)));
    CHECK(same(x / -1, at::tensor({-0.f, -255.f, -1.f})));
    CHECK(same(ht::clip(x, -5, 300), at::tensor({0, 255, 1}).to(at::kByte)));
    CHECK_THROWS_WITH(x + 300, Catch::Contains("[add] got the number 300 for an array of uint8; expected 0 .. 255"));
    CHECK_THROWS_AS(x *= -1, ht::ValueError);
    CHECK_THROWS_WITH(ht::power(x, -1), Catch::Contains("[power] got the number -1"));
    CHECK_THROWS_WITH(ht::power(x.astype(ht::int32), -1), Catch::Contains("[power] got the exponent -1"));
  }
}

TEST_CASE("bool is computed with as NumPy does", "[ops][elementwise]") {
  for (const auto& layout : every_layout({3})) {
    const auto truth = distribute(at::tensor({1, 0, 1}).to(at::kBool), layout);
    const auto bytes = distribute(at::tensor({1, 2, 3}).to(at::kChar), layout);
    CHECK(same(ht::abs(truth), at::tensor({1, 0, 1}).to(at::kBool)));
    CHECK(same(ht::square(truth), at::tensor({1, 0, 1}).to(at::kChar)));
    CHECK(same(ht::floor_divide(truth, truth), at::tensor({1, 0, 1}).to(at::kChar)));
    CHECK(same(ht::power(truth, truth), at::tensor({1, 1, 1}).to(at::kChar)));
    CHECK(same(truth - bytes, at::tensor({0, -2, -2}).to(at::kChar)));
    CHECK(same(1.5 - truth, at::tensor({0.5f, 1.5f, 0.5f})));
    CHECK(same(bytes - true, at::tensor({0, 1, 2}).to(at::kChar)));
    CHECK(same(ht::bitwise_count(truth), at::tensor({1, 0, 1}).to(at::kByte)));
    CHECK(same(ht::conj(truth), at::tensor({1, 0, 1}).to(at::kChar)));
    CHECK(same(ht::around(truth), at::tensor({1.F, 0.F, 1.F})));
    CHECK_THROWS_AS(ht::round(truth, 1), ht::TypeError);
    CHECK_THROWS_AS(ht::around(truth, -1), ht::TypeError);
    CHECK(same(ht::hypot(bytes * 3, bytes * 4), at::tensor({5.f, 10.f, 15.f})));
    CHECK_THROWS_AS(truth - truth, ht::TypeError);
  }
}

TEST_CASE("rounding takes every dtype", "[ops][elementwise]") {
  for (const auto& layout : every_layout({4})) {
    const auto whole = distribute(at::tensor({15, 25, -149, 7}, at::kInt), layout);
    CHECK(same(ht::round(whole, 2), at::tensor({15, 25, -149, 7}, at::kInt)));
    CHECK(same(ht::round(whole, -1), at::tensor({20, 20, -150, 10}, at::kInt)));
    CHECK(same(ht::rint(whole), at::tensor({15., 25., -149., 7.}, at::kDouble)));
    CHECK(same(ht::reciprocal(whole - 16), at::tensor({-1, 0, 0, 0}, at::kInt)));
    const auto z =
        at::complex(at::tensor({0.5, 1.5, -2.25, 3.0}, at::kDouble), at::tensor({2.5, -0.75, 1.0, 0.0}, at::kDouble));
    CHECK(same(ht::round(distribute(z, layout)),
               at::complex(at::tensor({0., 2., -2., 3.}, at::kDouble), at::tensor({2., -1., 1., 0.}, at::kDouble))));
  }
}

TEST_CASE("infinite complex numbers and signed zeros survive", "[ops][elementwise]") {
  const auto part = at::tensor({1., INFINITY, 0.}, at::kDouble);
  const auto z = at::complex(part, -part);
  for (const auto& layout : every_layout({3})) {
    const auto x = distribute(z, layout);
    CHECK(same(ht::real(x + x), part * 2));
    CHECK(same(ht::imag(x - 1), -part));
    auto y = ht::copy(x);
    y += x;
    CHECK(same(ht::imag(y), part * -2));
    const auto zeros = distribute(at::tensor({-0., 4., -6.}, at::kDouble), layout);
    CHECK(same(ht::signbit(zeros % 2), at::zeros({3}, at::kBool)));
    CHECK(same(ht::signbit(zeros % -2), at::ones({3}, at::kBool)));
    CHECK(close(ht::angle(zeros), at::tensor({M_PI, 0., M_PI}, at::kDouble)));
    CHECK(same(ht::heaviside(zeros / zeros, 1), at::tensor({NAN, 1.f, 1.f}).to(at::kDouble)));
  }
}

TEST_CASE("functions in place write over their array", "[ops][elementwise]") {
  const auto global = at::tensor({7, -7, 5, 3, 0}, at::kLong), other = at::tensor({2, 2, 0, -1, 4}, at::kLong);
  for (const auto& layout : every_layout({5}))
    for (const auto& with : every_layout({5})) {
      const auto b = distribute(other, with);
      const auto after = [&](ht::DNDarray& (*f)(ht::DNDarray&, const ht::Operand&)) {
        auto x = distribute(global, layout);
        f(x, b);
        return x;
      };
      CHECK(same(after(ht::add_), global + other));
      CHECK(same(after(ht::sub_), global - other));
      CHECK(same(after(ht::mul_), global * other));
      CHECK(same(after(ht::floordiv_), at::tensor({3, -4, 0, -3, 0}, at::kLong)));
      CHECK(same(after(ht::mod_), at::tensor({1, 1, 0, 0, 0}, at::kLong)));
      CHECK(same(after(ht::fmod_), at::tensor({1, -1, 0, 0, 0}, at::kLong)));
      CHECK(same(after(ht::gcd_), at::gcd(global, other)));
      CHECK(same(after(ht::lcm_), at::lcm(global, other)));
      CHECK(same(after(ht::bitwise_xor_), global ^ other));
      CHECK_THROWS_AS(after(ht::div_), ht::TypeError);
      CHECK_THROWS_AS(after(ht::hypot_), ht::TypeError);
    }
  auto x = ht::array({1.5, -2.0, 0.0}, {.split = 0});
  ht::neg_(ht::pow_(x, 2));
  CHECK(same(x, at::tensor({-2.25f, -4.f, -0.f})));
  auto y = ht::arange(3, {.split = 0});
  CHECK(same(ht::invert_(y), at::tensor({-1, -2, -3}, at::kLong)));
  auto z = ht::array({NAN, 1.0}, {.split = 0});
  CHECK(same(ht::nan_to_num_(z, {.nan = 3}), at::tensor({3.f, 1.f})));
  CHECK_THROWS_AS(ht::power_(y, 0.5), ht::TypeError);
}

TEST_CASE("real_if_close drops imaginary parts that are rounding errors", "[ops][elementwise]") {
  const auto parts = at::tensor({1., 2., 3.}, at::kDouble);
  for (const auto& layout : every_layout({3})) {
    CHECK(same(ht::real_if_close(distribute(at::complex(parts, parts * 1e-15), layout)), parts));
    CHECK(ht::real_if_close(distribute(at::complex(parts, parts * 1e-9), layout)).dtype() == ht::complex128);
    CHECK(same(ht::real_if_close(distribute(parts, layout)), parts));
  }
}

TEST_CASE("complex numbers are compared by their parts in order", "[ops][elementwise]") {
  using C = std::complex<double>;
  const auto a = at::complex(at::tensor({1., 1., 2., NAN, 0., 1.}, at::kDouble),
                             at::tensor({2., 3., 0., 0., NAN, 2.}, at::kDouble));
  const auto b = C(1, 2);
  for (const auto& layout : every_layout({6})) {
    const auto x = distribute(a, layout);
    CHECK(same(x < b, at::tensor({0, 0, 0, 0, 0, 0}).to(at::kBool)));
    CHECK(same(x <= b, at::tensor({1, 0, 0, 0, 0, 1}).to(at::kBool)));
    CHECK(same(x > b, at::tensor({0, 1, 1, 0, 0, 0}).to(at::kBool)));
    CHECK(same(x >= b, at::tensor({1, 1, 1, 0, 0, 1}).to(at::kBool)));
    CHECK(same(ht::real(ht::maximum(x, b)), at::tensor({1., 1., 2., NAN, 0., 1.}, at::kDouble)));
    CHECK(same(ht::imag(ht::minimum(b, x)), at::tensor({2., 2., 2., 0., NAN, 2.}, at::kDouble)));
    CHECK(same(ht::imag(ht::fmax(x, b)), at::tensor({2., 3., 0., 2., 2., 2.}, at::kDouble)));
    CHECK(same(ht::real(ht::fmin(x, b)), at::tensor({1., 1., 1., 1., 1., 1.}, at::kDouble)));
    CHECK(same(ht::real(ht::clip(x, C(1, 0), C(1, 2))), at::tensor({1., 1., 1., NAN, 0., 1.}, at::kDouble)));
  }
}

TEST_CASE("signs and powers of complex numbers at their limits", "[ops][elementwise]") {
  const auto re = at::tensor({INFINITY, 3., INFINITY, 0.}, at::kDouble),
             im = at::tensor({1., -INFINITY, INFINITY, 0.}, at::kDouble);
  for (const auto& layout : every_layout({4})) {
    const auto z = distribute(at::complex(re, im), layout);
    CHECK(same(ht::real(ht::sign(z)), at::tensor({1., 0., NAN, 0.}, at::kDouble)));
    CHECK(same(ht::imag(ht::sign(z)), at::tensor({0., -1., NAN, 0.}, at::kDouble)));
    CHECK(same(ht::power(z, 0), at::ones({4}, at::kComplexDouble)));
    CHECK(same(ht::angle(z, {.deg = true}), at::tensor({0., -90., 45., 0.}, at::kDouble)));
    CHECK(std::isnan(ht::real(ht::reciprocal(z))(3).item<double>()));
  }
}

TEST_CASE("divisors and multiples of whole numbers at their limits", "[ops][elementwise]") {
  constexpr auto low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
  const auto a = at::tensor({low, std::int64_t{6}, std::int64_t{-6}}, at::kLong);
  const auto b = at::tensor({high, low, std::int64_t{4}}, at::kLong);
  for (const auto& layout : every_layout({3})) {
    const auto x = distribute(a, layout), y = distribute(b, layout);
    CHECK(same(ht::gcd(x, y), at::tensor({1, 2, 2}, at::kLong)));
    CHECK(same(ht::lcm(x, y), at::tensor({low, low, std::int64_t{12}}, at::kLong)));
    auto z = distribute(a.slice(0, 1), ht::Layout({2}, std::nullopt, ht::world().size())).astype(ht::int8);
    ht::gcd_(z, 4);
    CHECK(same(z, at::tensor({2, 2}).to(at::kChar)));
  }
  CHECK(ht::gcd(ht::full({}, -128, {.dtype = ht::int8}), ht::full({}, 6, {.dtype = ht::int8})).item<int>() == 2);
}

TEST_CASE("remainders of quotients beyond the range of vector code", "[ops][elementwise]") {
  for (const auto& layout : every_layout({19})) {
    const auto x = distribute(at::full({19}, -1e300, at::kDouble), layout);
    const auto rest = std::fmod(-1e300, 1e-10);
    CHECK(same(ht::fmod(x, 1e-10), at::full({19}, rest, at::kDouble)));
    CHECK(same(ht::remainder(x, 1e-10), at::full({19}, rest + 1e-10, at::kDouble)));
    CHECK(same(ht::fmod(distribute(at::full({19}, 3.4e38F), layout), 0.5), at::zeros({19})));
    CHECK(same(ht::fmod(x, 0), at::full({19}, NAN, at::kDouble)));
    const auto narrow = distribute(at::full({19}, 3.F), layout);
    CHECK(same(ht::remainder(1e300, narrow), at::full({19}, NAN)));
    CHECK(same(ht::fmod(1e300, narrow), at::full({19}, NAN)));
    CHECK(same(ht::remainder(narrow, 1e-300), at::full({19}, NAN)));
    CHECK(same(ht::remainder(narrow, -1e300), at::full({19}, -INFINITY)));
  }
  const auto zero = ht::zeros({3}, {.dtype = ht::complex128, .split = 0});
  CHECK(same(ht::float_power(zero, 0), at::ones({3}, at::kComplexDouble)));
}
