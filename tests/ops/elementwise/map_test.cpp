#include "../../support.hpp"

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/elementwise/map.hpp>

#include <limits>

namespace {

at::Tensor numbers(const ht::Shape& shape, double shift = 0.5) {
  return at::arange(ht::size_of(shape), at::kDouble).reshape(shape) * 0.37 - shift;
}

constexpr auto combined = [](double a, double b) { return a * a - b; };

}  // namespace

TEST_CASE("map takes any mix of layouts", "[ops][map][host]") {
  const auto a = numbers({4, 5}), b = numbers({4, 5}, 2);
  for (const auto& layout_a : every_layout({4, 5}))
    for (const auto& layout_b : every_layout({4, 5})) {
      const auto x = distribute(a, layout_a), y = distribute(b, layout_b);
      CHECK(same(ht::map(combined, x, y), a * a - b));
      CHECK(ht::map_reduce<ht::ReduceOp::sum>(combined, x, y) == Approx((a * a - b).sum().item<double>()));
      CHECK(ht::map_reduce<ht::ReduceOp::max>(combined, x, y) == (a * a - b).max().item<double>());
    }
}

TEST_CASE("map broadcasts arrays and numbers", "[ops][map][host]") {
  const auto a = numbers({4, 5}), row = numbers({5}), column = numbers({4, 1}), cube = numbers({3, 1, 5});
  for (const auto& layout : every_layout({4, 5})) {
    const auto x = distribute(a, layout);
    for (const auto& l : every_layout({5})) CHECK(same(ht::map(combined, x, distribute(row, l)), a * a - row));
    for (const auto& l : every_layout({4, 1}))
      CHECK(same(ht::map(combined, distribute(column, l), x), column * column - a));
    for (const auto& l : every_layout({3, 1, 5}))
      CHECK(same(ht::map(combined, distribute(cube, l), x), cube * cube - a));
    CHECK(same(ht::map(combined, x, 2), a * a - 2));
  }
  CHECK(ht::map(combined, ht::full({}, 3), 2).item<double>() == 7);
  CHECK(ht::map(combined, ht::ones({0, 3}, {.split = 1}), ht::ones({3})).shape() == ht::Shape{0, 3});
}

TEST_CASE("map reads blocks that are not contiguous", "[ops][map][host]") {
  const auto a = numbers({70, 60});
  for (const auto& layout : every_layout({60, 70})) {
    const auto block = distribute(a.t().contiguous(), layout).larray();
    const auto turned = ht::detail::wrap(block.t().contiguous().t(), layout, ht::world());
    CHECK(same(ht::map(combined, turned, turned), (a * a - a).t()));
    CHECK(ht::map_reduce<ht::ReduceOp::sum>([](double v) { return v; }, turned) == Approx(a.sum().item<double>()));
  }
}

TEST_CASE("parameters and result of the function set the dtypes", "[ops][map]") {
  const auto x = ht::arange(5, {.dtype = ht::int32, .split = 0});
  CHECK(ht::map([](float v) { return v > 2; }, x).dtype() == ht::bool_);
  CHECK(ht::map<double>([](auto v, auto w) { return v + w; }, x, 0.5).to_vector<double>() ==
        std::vector<double>{0.5, 1.5, 2.5, 3.5, 4.5});
  CHECK(ht::map(
            +[](std::int64_t v) { return std::complex<float>(0, static_cast<float>(v)); }, x)
            .dtype() == ht::complex64);
  CHECK(ht::map(sqrtf, ht::array({4.0, 9.0})).to_vector<float>() == std::vector<float>{2, 3});
  CHECK(ht::map([](double v) noexcept { return -v; }, x).dtype() == ht::float64);
  CHECK((ht::map_reduce<ht::ReduceOp::sum, int>([](auto v) { return v % 2 == 1; }, x)) == 2);
}

TEST_CASE("map sees elements of any dtype as conversion gives them", "[ops][map][host]") {
  const auto every = at::remainder(at::arange(6000) * 37, 251).to(at::kDouble).reshape({60, 100}) / 2;
  const auto check = [](const at::Tensor& global, const ht::Layout& layout, auto as) {
    using T = decltype(as);
    const auto expected = global.to(c10::CppTypeToScalarType<T>::value);
    const auto x = distribute(global, layout);
    CHECK(same(ht::map([](T v) { return v; }, x), expected));
    const auto turned = ht::detail::wrap(x.larray().t().contiguous().t(), layout, ht::world());
    CHECK(same(ht::map([](T v) { return v; }, turned), expected));
  };
  for (const auto type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kBFloat16,
                          at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble})
    for (const auto& layout : every_layout({60, 100})) {
      const auto global = every.to(type);
      check(global, layout, double{});
      check(global, layout, float{});
      check(global, layout, std::int64_t{});
      check(global, layout, bool{});
    }
}

TEST_CASE("map_reduce is accurate, also for NaN and empty arrays", "[ops][map]") {
  const auto ones = ht::ones({3'000'000}, {.split = 0});
  const auto self = [](float v) { return v; };
  CHECK(ht::map_reduce<ht::ReduceOp::sum>([](float v) { return v * 0.1f; }, ones) == Approx(3e5).epsilon(1e-6));
  CHECK(ht::map_reduce<ht::ReduceOp::prod>(self, ones) == 1);
  CHECK(ht::map_reduce<ht::ReduceOp::sum>(self, ht::full({100}, 3e38, {.split = 0})) == Approx(3e40));
  CHECK(ht::map_reduce<ht::ReduceOp::prod>(self, ht::full({15}, 1e20, {.split = 0})) == Approx(1e300));
  const auto with_nan = ht::array({3.0, std::numeric_limits<double>::quiet_NaN(), 1.0}, {.split = 0});
  CHECK(std::isnan(ht::map_reduce<ht::ReduceOp::min>(self, with_nan)));
  CHECK(std::isnan(ht::map_reduce<ht::ReduceOp::max>(self, with_nan)));
  CHECK(ht::map_reduce<ht::ReduceOp::min>([](int v) { return -v; }, ht::arange(7, {.split = 0})) == -6);
  const auto nothing = ht::zeros({0}, {.split = 0});
  CHECK(ht::map_reduce<ht::ReduceOp::sum>(self, nothing) == 0);
  CHECK_THROWS_AS(ht::map_reduce<ht::ReduceOp::min>(self, nothing), ht::ValueError);
}

TEST_CASE("map on equal layouts communicates nothing, and refuses arrays that do not fit", "[ops][map]") {
  const auto x = ht::ones({10}, {.split = 0});
  const auto before = ht::comm_report().calls;
  static_cast<void>(ht::map(combined, x, x));
  CHECK(ht::comm_report().calls == before);
  CHECK_THROWS_WITH(ht::map(combined, x, ht::ones({4})), Catch::Contains("[map] got arrays of shapes"));
}
