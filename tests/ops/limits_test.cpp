#include "../support.hpp"

#include <cmath>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/creation/creation.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

TEST_CASE("sinh and cosh are finite as long as their values are", "[ops][elementwise]") {
  const auto x = at::linspace(-89.4, 89.4, 1001, at::kDouble), wide = at::linspace(-710.4, 710.4, 1001, at::kDouble);
  const auto sinh = [](const at::Tensor& y) {
    return at::copysign(at::exp(y.abs() / 2) / 2 * at::exp(y.abs() / 2), y);
  };
  for (const auto& layout : every_layout({1001})) {
    const auto single = distribute(x.to(at::kFloat), layout), wider = distribute(wide, layout);
    CHECK(close(ht::sinh(single), at::sinh(x.to(at::kFloat).to(at::kDouble)).to(at::kFloat), 1e-6));
    CHECK(close(ht::cosh(single), at::cosh(x.to(at::kFloat).to(at::kDouble)).to(at::kFloat), 1e-6));
    const auto far = at::abs(wide) > 100;
    CHECK(close(ht::where(distribute(far, layout), ht::sinh(wider), 0.0), at::where(far, sinh(wide), 0.0)));
    CHECK(close(ht::where(distribute(far, layout), ht::cosh(wider), 0.0), at::where(far, sinh(wide).abs(), 0.0)));
  }
  CHECK(ht::sinh(ht::array({89})).item<float>() == Approx(std::sinh(89.0)).epsilon(1e-6));
  CHECK(std::isinf(ht::sinh(ht::full({33}, 90.0)).to_vector<float>().back()));
}

TEST_CASE("numbers are rounded to the dtype of narrow floats before they divide", "[ops][elementwise]") {
  const auto x = at::tensor({0.1, 0.2, 7.7}).to(at::kHalf);
  for (const auto& layout : every_layout({3})) {
    const auto [quotient, rest] = ht::divmod(distribute(x, layout), 0.1);
    CHECK(same(quotient, at::tensor({1., 2., 77.}).to(at::kHalf)));
    CHECK(close(
        quotient.astype(ht::float64) * static_cast<double>(static_cast<c10::Half>(0.1)) + rest.astype(ht::float64),
        x.to(at::kDouble), 1e-2));
  }
}

TEST_CASE("clip takes limits of two kinds", "[ops][elementwise]") {
  const auto x = ht::array({1, 2, 200}, {.dtype = ht::uint8, .split = 0});
  CHECK(same(ht::clip(x, 1.5, -2), at::tensor({-2.f, -2.f, -2.f})));
  CHECK(same(ht::clip(x, -2, 1.5), at::tensor({1.f, 1.5f, 1.5f})));
}

TEST_CASE("parts of complex numbers keep the signs of their zeros", "[ops][elementwise]") {
  const auto zeros = at::zeros({33}, at::kDouble), ones = at::ones({33}, at::kDouble);
  const auto signs = [](const ht::DNDarray& x) { return ht::signbit(x); };
  for (const auto& layout : every_layout({33})) {
    const auto units = ht::sign(distribute(at::complex(-zeros, ones * 2), layout));
    CHECK(same(ht::imag(units), ones));
    CHECK(same(signs(ht::real(units)), zeros.to(at::kBool).logical_not()));
    auto z = distribute(at::complex(zeros, zeros), layout);
    ht::negative_(z);
    CHECK(same(signs(ht::real(z)), zeros.to(at::kBool).logical_not()));
    CHECK(same(signs(ht::imag(z)), zeros.to(at::kBool).logical_not()));
  }
}

TEST_CASE("a plus sign and shifts of numbers", "[ops][elementwise]") {
  const auto x = ht::arange(4, {.split = 0});
  CHECK(same(+x, at::arange(4)));
  CHECK(same(5 << x, at::tensor({5, 10, 20, 40}).to(at::kLong)));
  CHECK(same(40 >> x, at::tensor({40, 20, 10, 5}).to(at::kLong)));
}

TEST_CASE("A result for which no rank has memory is an error that names function and bytes", "[ops][memory]") {
  const std::int64_t huge = std::int64_t{1} << 50;
  for (const std::optional<int> split : {std::optional<int>{}, std::optional(0), std::optional(1)}) {
    const auto x = ht::broadcast_to(ht::ones({1, 8}, {.split = split}), {huge, 8});
    CHECK_THAT(message_of<ht::MemoryError>([&] { return x + 1; }),
               Catch::StartsWith("[add] got no memory for a result ("));
    CHECK_THAT(message_of<ht::MemoryError>([&] { return ht::sqrt(x); }), Catch::Contains("bytes to allocate"));
    CHECK_THAT(message_of<ht::MemoryError>([&] { return ht::cumsum(x, 0); }),
               Catch::StartsWith("[cumsum] got no memory"));
    CHECK_THROWS_AS(ht::indices({huge, 8}), ht::MemoryError);
  }
}

TEST_CASE("cube roots of the largest numbers", "[ops][elementwise]") {
  const auto largest = std::numeric_limits<double>::max();
  const std::vector<double> values{largest, -largest, 1.7e308, 1.5e308, 8};
  const auto roots = ht::cbrt(ht::array(values, {.dtype = ht::float64, .split = 0})).to_vector<double>();
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(roots[i] == Approx(std::cbrt(values[i])).epsilon(1e-15));
}
