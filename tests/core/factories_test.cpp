#include "../support.hpp"

#include <heatpp/core/slice.hpp>
#include <heatpp/interop/xtensor.hpp>

#include <numeric>

TEST_CASE("factories give the same array for every split", "[core][factories]") {
  for (const std::optional<int> split : {std::optional<int>{}, std::optional(0), std::optional(1)}) {
    CHECK(same(ht::zeros({5, 3}, {.split = split}), at::zeros({5, 3})));
    CHECK(same(ht::ones({5, 3}, {.dtype = ht::int16, .split = split}), at::ones({5, 3}, at::kShort)));
    CHECK(same(ht::full({2, 3}, 7, {.split = split}), at::full({2, 3}, 7, at::kLong)));
    CHECK(same(ht::full({2, 3}, 1.5, {.dtype = ht::float64, .split = split}), at::full({2, 3}, 1.5, at::kDouble)));
    CHECK(same(ht::eye(5, std::nullopt, {.split = split}), at::eye(5)));
    CHECK(same(ht::eye(3, 7, {.split = split}), at::eye(3, 7)));
    CHECK(same(ht::eye(7, 3, {.split = split}), at::eye(7, 3)));
    CHECK((same(ht::array({{1, 2}, {3, 4}, {5, 6}}, {.split = split}), at::arange(1, 7).reshape({3, 2}))));
    CHECK(ht::empty({4, 4}, {.dtype = ht::uint8, .split = split}).dtype() == ht::uint8);
  }
}

TEST_CASE("ranges do not depend on the number of ranks", "[core][factories]") {
  for (const std::optional<int> split : {std::optional<int>{}, std::optional(0)}) {
    CHECK(same(ht::arange(7, {.split = split}), at::arange(7)));
    CHECK(same(ht::arange({.start = 7, .stop = -2, .step = -3}, {.split = split}), at::arange(7, -2, -3)));
    CHECK(same(ht::arange(2.5, {.split = split}), at::arange(3, at::kFloat)));
    CHECK(same(ht::arange(-1, {.split = split}), at::arange(0)));
    CHECK(close(ht::linspace(0, 1, 5, {.dtype = ht::float64, .split = split}), at::linspace(0, 1, 5, at::kDouble)));
    CHECK(ht::linspace(0, 0.7, 1000, {.dtype = ht::float64, .split = split}).to_vector<double>().back() == 0.7);
    CHECK(ht::linspace(0, 1, 0, {.split = split}).size() == 0);
    CHECK(same(ht::linspace(0, 2.5e-323, 20, {.dtype = ht::float64, .split = split}),
               at::arange(20, at::kDouble) / 19 * 2.5e-323));
  }
  CHECK_THROWS_AS(ht::arange({.stop = 3, .step = 0}), ht::ValueError);
  CHECK_THROWS_AS(ht::linspace(0, 1, -1), ht::ValueError);
}

TEST_CASE("array infers its dtype and rejects ragged rows", "[core][factories]") {
  CHECK(ht::array({1, 2}).dtype() == ht::int64);
  CHECK(ht::array({1, 2.5}).dtype() == ht::float32);
  CHECK(ht::array({true, false}).dtype() == ht::bool_);
  CHECK(ht::array({std::complex<double>(0, 1), 2}).dtype() == ht::complex64);
  CHECK(ht::array(std::vector<double>{1, 2, 3}).shape() == ht::Shape{3});
  CHECK(ht::array(3).shape().empty());
  CHECK_THROWS_WITH(ht::array({{1, 2}, {3}}), Catch::Contains("shapes (2,) and (1,)"));
}

TEST_CASE("array refuses numbers that its dtype does not have", "[core][factories]") {
  CHECK(ht::array({3.7, -128}, {.dtype = ht::int8}).to_vector<std::int8_t>() == std::vector<std::int8_t>{3, -128});
  CHECK(ht::array({2, 0}, {.dtype = ht::bool_}).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK_THROWS_WITH(ht::array({1, 300}, {.dtype = ht::uint8, .split = 0}),
                    "[array] got the number 300 for an array of uint8; expected 0 .. 255");
  for (const double bad : {1e20, double{NAN}, double{INFINITY}})
    CHECK_THROWS_AS(ht::array({{0.5, bad}}, {.dtype = ht::int64}), ht::ValueError);
  CHECK_THROWS_AS(ht::array({std::complex<double>(1, 2)}, {.dtype = ht::float32}), ht::TypeError);
}

TEST_CASE("item and to_vector give every rank the elements", "[core][dndarray]") {
  const auto global = at::arange(6, at::kInt).reshape({2, 3});
  for (const auto& layout : every_layout({2, 3})) {
    const auto x = distribute(global, layout);
    CHECK(x.to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
    CHECK_THROWS_WITH(x.item<double>(), Catch::Contains("(2, 3)"));
  }
  for (const auto& layout : every_layout({1, 1}))
    CHECK(distribute(at::full({1, 1}, 4.5), layout).item<double>() == 4.5);
}

TEST_CASE("complex numbers do not become real unasked", "[core][dndarray]") {
  const auto z = ht::array({std::complex<double>(1, 2)}, {.split = 0});
  CHECK_THROWS_WITH(double(z), Catch::Contains("[item] got an array of complex64 as float64; expected a complex type"));
  CHECK_THROWS_AS(z.item<int>(), ht::TypeError);
  CHECK_THROWS_AS(z.to_vector<float>(), ht::TypeError);
  CHECK(z.item<std::complex<float>>() == std::complex<float>(1, 2));
}

TEST_CASE("from_local adopts blocks of different sizes without a copy", "[core][factories]") {
  const auto& world = ht::world();
  std::vector<double> mine(static_cast<std::size_t>(world.rank() + 1), world.rank());

  const auto x = ht::from_local(std::span(mine), {.split = 0});
  mine[0] = 100 + world.rank();

  CHECK(x.shape()[0] == world.size() * (world.size() + 1) / 2);
  CHECK(x.local<double>().data() == mine.data());
  CHECK(x.to_vector<double>()[0] == 100);
  for (int r = 0; r < world.size(); ++r) CHECK(x.layout().count(r) == r + 1);
  // As many as an even cut would give each rank, and as many in all, in another order.
  const auto counts = [&](std::int64_t rank) { return std::int64_t{rank == world.size() - 1}; };
  const auto moved =
      ht::from_local(std::span(mine.data(), static_cast<std::size_t>(counts(world.rank()))), {.split = 0});
  for (int r = 0; r < world.size(); ++r) CHECK(moved.layout().count(r) == counts(r));
  const auto even = ht::from_local(at::zeros({3, world.rank() == 0 ? 5 : 4}), {.split = -1});
  CHECK(even.layout() == ht::Layout({3, 4 * world.size() + 1}, 1, world.size()));
  CHECK(ht::from_local(std::span(mine.data(), 1)).shape() == ht::Shape{1});
  std::array<double, 2> two{1, 2};
  auto y = ht::from_local(two, {.split = 0});
  y.local<double>()[0] += 1;
  CHECK(two[0] == 2);
  const float raw[] = {1, 2, 3};
  CHECK_FALSE(ht::from_local(raw).is_writable());
}

TEST_CASE("from_local takes tensors that LibTorch conjugates lazily", "[core][factories]") {
  const auto z = at::complex(at::arange(3, at::kDouble), at::ones({3}, at::kDouble));
  CHECK(equals(gathered(ht::from_local(z.conj(), {.split = 0})).narrow(0, 0, 3), z.conj().resolve_conj()));
}

TEST_CASE("blocks that do not fit are an error on all ranks", "[core][factories]") {
  const auto& world = ht::world();
  CHECK_THROWS_AS(ht::from_local(at::zeros({2}, at::kUInt16), {.split = 0}), ht::TypeError);
  CHECK_THROWS_AS(ht::from_tensor(at::zeros({2}, at::kUInt16), {.split = 0}), ht::TypeError);
  if (world.size() == 1) return;
  const auto odd = world.rank() == 0;
  CHECK_THROWS_AS(ht::from_local(at::zeros({2, odd ? 3 : 4}), {.split = 0}), ht::ValueError);
  CHECK_THROWS_AS(ht::from_local(odd ? at::zeros({2}) : at::zeros({2, 2}), {.split = 0}), ht::ValueError);
  CHECK_THROWS_AS(ht::from_local(at::zeros({2}, odd ? at::kInt : at::kFloat), {.split = 0}), ht::ValueError);
  CHECK_THROWS_AS(ht::from_local(at::zeros({odd ? 3 : 2})), ht::ValueError);
  float memory[] = {1, 2};
  CHECK_THROWS_AS(ht::from_local(odd ? nullptr : memory, {2}, ht::float32, {.split = 0}), ht::ValueError);
  CHECK(ht::from_local(odd ? nullptr : memory, {odd ? 0 : 2}, ht::float32, {.split = 0}).ndim() == 1);
  CHECK_THROWS_AS(ht::from_local(memory, {odd ? -1 : 2}, ht::float32, {.split = 0}), ht::ValueError);
}

TEST_CASE("xtensor views and containers share memory", "[core][xtensor]") {
  xt::xarray<double> field = xt::ones<double>({2, 3}) * (ht::world().rank() + 1.0);
  const auto x = ht::from_xtensor(field, {.split = 0});
  auto y = ht::zeros(x.shape(), {.dtype = ht::float64, .split = 0});

  ht::assign(y, xt::sqrt(ht::as_xtensor<double>(x) * ht::as_xtensor<double>(x)) + 1.0);

  CHECK(x.shape() == ht::Shape{2 * ht::world().size(), 3});
  CHECK(x.local<double>().data() == field.data());
  CHECK(same(y, gathered(x) + 1.0));
  CHECK_THROWS_AS(ht::as_xtensor<float>(y), ht::TypeError);
  CHECK_THROWS_AS(ht::assign(y, xt::xarray<double>(xt::ones<double>({7}))), ht::ValueError);
}

TEST_CASE("astype converts, or shares memory if the dtype is the same", "[core][dndarray]") {
  const auto x = ht::array({1.7, -2.2});
  CHECK(x.astype(ht::int32).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, -2});
  const auto same_dtype = x.astype(ht::float32), duplicate = ht::copy(x);
  CHECK(same_dtype.local<float>().data() == x.local<float>().data());
  CHECK(duplicate.local<float>().data() != x.local<float>().data());
}

TEST_CASE("linspace ends at its stop, and rounds whole numbers down", "[core][factories]") {
  const auto open =
      ht::linspace({.start = 1, .stop = 3, .num = 4, .endpoint = false}, {.dtype = ht::float64, .split = 0});
  CHECK(same(open, at::tensor({1., 1.5, 2., 2.5}, at::kDouble)));
  CHECK(same(ht::linspace(-3, 3, 8, {.dtype = ht::int64, .split = 0}),
             at::tensor({-3, -3, -2, -1, 0, 1, 2, 3}, at::kLong)));
  CHECK(same(ht::full_like(open, 7, ht::int16), at::full({4}, 7, at::kShort)));
  for (const double bad : {1e10, double{NAN}}) CHECK_THROWS_AS(ht::full_like(open, bad, ht::int32), ht::ValueError);
  CHECK(ht::zeros_like(open, ht::bool_).dtype() == ht::bool_);
}

TEST_CASE("shapes and blocks are computed without arrays", "[core][factories]") {
  CHECK(ht::broadcast_shapes({{3, 1}, {1, 4}, {2, 1, 1}}) == ht::Shape{2, 3, 4});
  CHECK_THROWS_AS(ht::broadcast_shapes({{3}, {4}, {1}}), ht::ValueError);
  CHECK_THROWS_AS(ht::sanitize_shape({3, -1}), ht::ValueError);
  CHECK(ht::sanitize_slice({.start = -3, .step = 2}, 10).count == 2);
  CHECK(ht::isscalar(3.5));
  CHECK_FALSE(ht::isscalar(ht::ones({1})));
  const auto x = ht::ones({7, 2}, {.split = 0});
  CHECK(ht::lshape_map(x)[0] == x.layout().local_shape(0));
  CHECK(ht::is_distributed(x) == (ht::world().size() > 1));
}

TEST_CASE("an array is collected on one rank", "[core][redistribute]") {
  const auto global = at::arange(14).reshape({7, 2});
  const auto last = ht::world().size() - 1;
  for (const auto& layout : every_layout({7, 2})) {
    auto x = distribute(global, layout);
    ht::collect_(x, last);
    CHECK(x.layout().count(last) == x.shape()[static_cast<std::size_t>(*x.split())]);
    CHECK(same(x, global));
    ht::resplit_(x, 1);
    CHECK(x.split() == 1);
  }
  CHECK_THROWS_AS(ht::collect(ht::full({}, 1)), ht::ValueError);
  CHECK_THROWS_AS(ht::collect(ht::ones({3}), last + 1), ht::ValueError);
}

TEST_CASE("arange counts whole numbers from one end of their range to the other", "[core][factories]") {
  constexpr auto low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
  const auto step = std::int64_t{1} << 62;
  const auto options = ht::ArrayOptions{.split = 0};
  CHECK(same(ht::arange(ht::ArangeRange{low, high, step}, options),
             at::tensor({low, -step, std::int64_t{0}, step}, at::kLong)));
  CHECK(same(ht::arange(ht::ArangeRange{high, low, -step}, options),
             at::tensor({high, high - step, std::int64_t{-1}, -1 - step}, at::kLong)));
  CHECK(ht::arange(ht::ArangeRange{3, 3, 1}, options).size() == 0);
  CHECK_THROWS_AS(ht::arange(ht::ArangeRange{low, high, 1}, options), ht::ValueError);
}

TEST_CASE("arange steps by the difference of its first two whole numbers", "[core][factories]") {
  for (const auto& split : {std::optional<int>(), std::optional(0)})
    for (const auto dtype : {ht::int64, ht::int8}) {
      const auto range = [&](const ht::Scalar& start, const ht::Scalar& stop, const ht::Scalar& step) {
        return ht::arange({.start = start, .stop = stop, .step = step}, {.dtype = dtype, .split = split});
      };
      const auto is = [&](const std::vector<std::int64_t>& numbers) {
        return at::tensor(numbers).to(ht::to_torch(dtype));
      };
      CHECK(same(range(1.5, 5, 1.5), is({1, 3, 5})));
      CHECK(same(range(2.9, 10.1, 2.3), is({2, 5, 8, 11})));
      CHECK(same(range(0, 3, 0.5), is({0, 0, 0, 0, 0, 0})));
      CHECK(same(range(-1.5, 3, 1), is({-1, 0, 1, 2, 3})));
      CHECK(same(range(-0.5, 3, 1), is({0, 0, 0, 0})));
      CHECK(same(range(0, 5, 2.5), is({0, 2})));
      CHECK_THROWS_AS(range(1e30, 3e30, 1e30), ht::ValueError);
    }
  const auto of = [](const ht::Scalar& start, const ht::Scalar& stop, ht::Dtype dtype) {
    return ht::arange({.start = start, .stop = stop}, {.dtype = dtype, .split = 0});
  };
  CHECK_THROWS_WITH(of(300, 302, ht::int8), Catch::Contains("[arange] got the number 300 for an array of int8"));
  CHECK_THROWS_AS(of(-2.5, 2, ht::uint8), ht::ValueError);
  CHECK(of(300, 300, ht::int8).size() == 0);
  CHECK(same(of(0.5, 2.5, ht::bool_), at::ones({2}, at::kBool)));
  CHECK(same(of(-1, 1, ht::bool_), at::tensor({1, 0}).to(at::kBool)));
  CHECK_THROWS_AS(of(0, 3, ht::bool_), ht::TypeError);
}

TEST_CASE("ones stand on any diagonal", "[core][factories]") {
  constexpr auto far = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t k : {std::int64_t{-2}, std::int64_t{0}, std::int64_t{3}, -far, far})
    for (const auto& split : {std::optional<int>(), std::optional(0), std::optional(1)}) {
      const auto expected =
          at::ones({4, 5}).tril(std::clamp<std::int64_t>(k, -9, 9)).triu(std::clamp<std::int64_t>(k, -9, 9));
      CHECK(same(ht::eye(4, 5, k, {.split = split}), expected));
    }
}

TEST_CASE("arrays of vectors have the dtype of their numbers", "[core][factories]") {
  CHECK(ht::array(std::vector<double>{0.1, 1e300}).to_vector<double>() == std::vector{0.1, 1e300});
  CHECK(ht::array(std::vector<std::uint8_t>{1}).dtype() == ht::uint8);
  CHECK(ht::array(std::vector<float>{}).dtype() == ht::float32);
  const std::vector<std::vector<double>> rows{{0.1, 2, 3}, {4, 5, 6}};
  const std::array<std::int16_t, 3> row{1, 2, 3};
  for (const std::optional<int> split : {std::optional<int>{}, std::optional(0), std::optional(1)})
    CHECK(same(ht::array(rows, {.split = split}), at::tensor({0.1, 2., 3., 4., 5., 6.}, at::kDouble).view({2, 3})));
  CHECK(same(ht::array(row), at::tensor({1, 2, 3}, at::kShort)));
  CHECK(same(ht::array(std::span(rows[1]).first(2)), at::tensor({4., 5.}, at::kDouble)));
  CHECK(ht::array(std::vector<std::vector<int>>(2)).shape() == ht::Shape{2, 0});
  CHECK_THROWS_WITH(ht::array(std::vector<std::vector<int>>{{1}, {2, 3}}),
                    Catch::Contains("[array] got parts of shapes (1,) and (2,)"));
  CHECK(ht::array(std::vector<unsigned>{7}).dtype() == ht::int64);
  CHECK(ht::array({std::vector<double>{1, 2}, std::vector<double>{3, 4}}).dtype() == ht::float64);
  CHECK(ht::array(7u).dtype() == ht::int64);
  CHECK(ht::array({std::size_t{7}, std::size_t{8}}).to_vector<int>() == std::vector{7, 8});
  CHECK(ht::array({1, 2.5}).dtype() == ht::float32);
  CHECK(ht::array({true, false}).dtype() == ht::bool_);
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;
  CHECK(ht::array({odd, 0.5}, {.dtype = ht::int64}).to_vector<std::int64_t>() == std::vector{odd, std::int64_t{0}});
}

TEST_CASE("real arrays take no complex numbers", "[core][factories]") {
  const std::complex<double> z(1, 2);
  CHECK_THROWS_AS(ht::full({2}, z, {.dtype = ht::float32}), ht::TypeError);
  CHECK_THROWS_AS(ht::full_like(ht::ones({2}), z), ht::TypeError);
  CHECK_THROWS_AS(ht::arange(z), ht::TypeError);
  CHECK_THROWS_AS(ht::arange(ht::ArangeRange{.start = 5, .stop = 0, .step = std::complex<double>(-0.5)}),
                  ht::TypeError);
  CHECK_THROWS_AS(ht::broadcast_shapes({{-1}, {1}}), ht::ValueError);
}

TEST_CASE("a split that some ranks do not name is an error on all", "[core][factories]") {
  if (ht::world().size() == 1) return;
  std::vector<double> block(4);
  for (const bool first : {true, false}) {
    const bool names = (ht::world().rank() == 0) == first;
    CHECK_THROWS_WITH(ht::from_local(block, {.split = names ? std::optional(0) : std::nullopt}),
                      Catch::Contains("got the split none on some ranks and 0 on others"));
  }
}
