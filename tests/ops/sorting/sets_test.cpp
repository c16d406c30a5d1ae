#include "../../support.hpp"

#include <heatpp/ops/sorting/detail/by_key.hpp>
#include <heatpp/ops/sorting/sets.hpp>

#include <map>
#include <set>

namespace {

at::Tensor scattered_for_sets(const ht::Shape& shape, at::ScalarType type, double spread = 25) {
  auto x = ((at::arange(ht::size_of(shape), at::kDouble) * 0.618).frac() * spread).floor();
  if (type == at::kBool) x = x > 3;
  return x.reshape(shape).to(type);
}

at::Tensor tensor_of(const std::vector<double>& values, at::ScalarType type) {
  return at::tensor(at::ArrayRef<double>(values), at::kDouble).to(type);
}

std::set<double> set_of(const at::Tensor& x) {
  const auto flat = x.to(at::kDouble).flatten().contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

at::Tensor tensor_of_set(const std::set<double>& values, at::ScalarType type) {
  return tensor_of(std::vector<double>(values.begin(), values.end()), type);
}

}  // namespace

TEST_CASE("unique and its parts equal NumPy's for every layout", "[ops][sets]") {
  const ht::Shape shape = GENERATE(ht::Shape{13}, ht::Shape{7, 5}, ht::Shape{3000}, ht::Shape{0, 4}, ht::Shape{1, 1});
  const auto type = GENERATE(at::kBool, at::kByte, at::kInt, at::kLong, at::kHalf, at::kFloat, at::kDouble,
                             at::kComplexFloat, at::kComplexDouble);
  const auto global = scattered_for_sets(shape, type);
  const auto real = at::isComplexType(type) ? at::real(global) : global;
  const auto [values, inverse, counts] = at::_unique2(real, true, true, true);
  auto first = at::empty({values.numel()}, at::kLong);
  for (std::int64_t i = 0; i < values.numel(); ++i) first[i] = (inverse.flatten() == i).nonzero().min();
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::unique(x), values.to(type)));
    CHECK(ht::unique(x).split() == (layout.split() ? std::optional(0) : std::nullopt));
    CHECK(same(ht::unique_values(x), values.to(type)));
    CHECK(same(ht::unique_counts(x).counts, counts));
    CHECK(same(ht::unique_inverse(x).inverse, inverse));
    const auto all = ht::unique_all(x);
    CHECK(same(all.values, values.to(type)));
    CHECK(same(all.indices, first));
    CHECK(same(all.inverse, inverse));
    CHECK(same(all.counts, counts));
  }
}

TEST_CASE("unique takes whole numbers of any range", "[ops][sets]") {
  for (const double spread : {1.0, 1e3, 1e5, 1e8}) {
    const auto global = scattered_for_sets({20000}, at::kInt, spread);
    const auto values = std::get<0>(at::_unique2(global, true));
    for (const auto& layout : every_layout({20000})) CHECK(same(ht::unique(distribute(global, layout)), values));
  }
}

TEST_CASE("NaN is one element of unique and many of the array API's functions", "[ops][sets]") {
  const auto nan = static_cast<double>(NAN);
  for (const auto& layout : every_layout({6})) {
    const auto x = distribute(tensor_of({nan, 1, nan, -0.0, 0.0, nan}, at::kDouble), layout);
    CHECK(same(ht::unique(x), tensor_of({0, 1, nan}, at::kDouble)));
    CHECK(same(ht::unique(x, {.equal_nan = false}), tensor_of({0, 1, nan, nan, nan}, at::kDouble)));
    CHECK(same(ht::unique(x, 0), tensor_of({0, 1, nan}, at::kDouble)));
    CHECK(same(ht::unique(x, {.axis = -1, .equal_nan = false}), tensor_of({0, 1, nan, nan, nan}, at::kDouble)));
    const auto all = ht::unique_all(x);
    CHECK(same(all.counts, tensor_of({2, 1, 1, 1, 1}, at::kLong)));
    CHECK(same(all.indices, tensor_of({3, 1, 0, 2, 5}, at::kLong)));
    CHECK(same(all.inverse, tensor_of({2, 1, 3, 0, 0, 4}, at::kLong)));
    CHECK(same(ht::unique(x.astype(ht::complex64)), tensor_of({0, 1, nan}, at::kComplexFloat)));
  }
}

TEST_CASE("many distinct elements and NaN lie in any order over the ranks", "[ops][sets]") {
  const ht::Shape shape{90, 80};
  auto global = at::remainder(at::arange(7200) * 7919, 5003).to(at::kDouble);
  global.slice(0, 5, 7200, 97).fill_(NAN);
  const auto order = at::argsort(global, true, 0, false);
  const auto sorted = global.index_select(0, order);
  const auto begins = at::cat({at::ones({1}, at::kBool), sorted.slice(0, 1).ne(sorted.slice(0, 0, -1))});
  const auto values = sorted.masked_select(begins), first = order.masked_select(begins);
  const auto inverse = at::empty({7200}, at::kLong).index_put_({order}, begins.cumsum(0) - 1);
  const auto counts = at::bincount(inverse);
  const auto real = global.masked_select(global == global);
  const auto either = at::cat({std::get<0>(at::_unique(at::cat({real, real + 1}))), at::tensor({NAN}, at::kDouble)});
  const auto both = std::get<0>(at::_unique(real.masked_select(at::isin(real, real + 1))));
  for (const auto type : {at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble})
    for (const auto& layout : every_layout(shape)) {
      const auto x = distribute(global.to(type).view(shape), layout);
      const auto next = distribute((global + 1).to(type).view(shape), layout);
      const auto all = ht::unique_all(x);
      CHECK(same(all.values, values.to(type)));
      CHECK(same(all.indices, first));
      CHECK(same(all.inverse, inverse.view(shape)));
      CHECK(same(all.counts, counts));
      CHECK(same(ht::unique_values(x), values.to(type)));
      CHECK(same(ht::unique_counts(x).counts, counts));
      CHECK(same(ht::unique_inverse(x).inverse, inverse.view(shape)));
      CHECK(same(ht::union1d(x, next), either.to(type)));
      CHECK(same(ht::intersect1d(x, next), both.to(type)));
      CHECK(same(ht::isin(x, next), at::isin(global, global + 1).view(shape)));
    }
}

TEST_CASE("unique along an axis compares slices", "[ops][sets]") {
  const ht::Shape shape = GENERATE(ht::Shape{12, 2}, ht::Shape{40, 2, 3}, ht::Shape{0, 2}, ht::Shape{3, 0});
  for (const auto type : {at::kInt, at::kDouble}) {
    const auto global = (scattered_for_sets(shape, at::kDouble) - 3).remainder(3).to(type) - 1;
    for (const auto& layout : every_layout(shape))
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
        if (shape[0] == 0 || shape[1] == 0) {
          const auto n = shape[static_cast<std::size_t>(axis)];
          CHECK(ht::unique(distribute(global, layout), axis).shape()[static_cast<std::size_t>(axis)] ==
                std::min<std::int64_t>(n, 1));
          continue;
        }
        CHECK(same(ht::unique(distribute(global, layout), axis), std::get<0>(at::unique_dim(global, axis))));
      }
  }
}

TEST_CASE("sets of any two layouts", "[ops][sets]") {
  const auto a = scattered_for_sets({17}, at::kInt), b = scattered_for_sets({5, 4}, at::kDouble, 31) + 5;
  const auto in_a = set_of(a), in_b = set_of(b);
  std::set<double> both, either, only, one;
  std::ranges::set_intersection(in_a, in_b, std::inserter(both, both.end()));
  std::ranges::set_union(in_a, in_b, std::inserter(either, either.end()));
  std::ranges::set_difference(in_a, in_b, std::inserter(only, only.end()));
  std::ranges::set_symmetric_difference(in_a, in_b, std::inserter(one, one.end()));
  auto member = at::isin(a, b);
  for (const auto& layout_a : every_layout({17}))
    for (const auto& layout_b : every_layout({5, 4})) {
      const auto x = distribute(a, layout_a), y = distribute(b, layout_b);
      CHECK(same(ht::intersect1d(x, y), tensor_of_set(both, at::kDouble)));
      CHECK(same(ht::union1d(x, y), tensor_of_set(either, at::kDouble)));
      CHECK(same(ht::setdiff1d(x, y), tensor_of_set(only, at::kInt)));
      CHECK(same(ht::setxor1d(x, y), tensor_of_set(one, at::kDouble)));
      CHECK(same(ht::isin(x, y), member));
      CHECK(same(ht::isin(x, y, {.invert = true}), ~member));
      CHECK(ht::isin(x, y).layout() == layout_a);
      CHECK(ht::union1d(x, y).split().has_value() == (x.split() || y.split()));
    }
}

TEST_CASE("membership among few and many, close and scattered_for_sets ones", "[ops][sets]") {
  const auto noise = at::remainder(at::arange(20'000) * 7919, 20'011);
  for (const auto type : {at::kBool, at::kByte, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat, at::kDouble})
    for (const std::int64_t factor : {1, 100'003})
      for (const std::int64_t count : {0, 3, 100, 5000, 9000}) {
        auto a = (noise * factor).to(type), b = (noise.flip(0).slice(0, 0, count) * factor).to(type);
        if (at::isFloatingType(type)) {
          a.slice(0, 0, 20'000, 7).fill_(NAN);
          b.slice(0, 1, count, 50).fill_(NAN);
        }
        const auto expected = at::isin(a.to(at::kDouble), b.to(at::kDouble));
        const auto x = distribute(a, {{20'000}, 0, ht::world().size()});

        CHECK(same(ht::isin(x, distribute(b, {{count}, 0, ht::world().size()})), expected));
        CHECK(same(ht::isin(x, distribute(b, {{count}, std::nullopt, ht::world().size()})), expected));
        CHECK(same(ht::isin(distribute(a, {{20'000}, std::nullopt, ht::world().size()}), x),
                   at::isin(a.to(at::kDouble), a.to(at::kDouble))));
      }
  const auto z = at::complex(at::arange(20.0), at::arange(20.0).flip(0));
  const auto among = ht::isin(distribute(z, {{20}, 0, ht::world().size()}), ht::array({std::complex<float>(3, 16)}));
  CHECK(same(among, at::arange(20) == 3));
}

TEST_CASE("NaN in sets is as NumPy has it", "[ops][sets]") {
  const auto nan = static_cast<double>(NAN);
  const auto a = ht::array({nan, 1.0, nan}, {.split = 0}), b = ht::array({2.0, nan, nan, nan}, {.split = 0});
  CHECK(same(ht::intersect1d(a, b), at::empty({0})));
  CHECK(same(ht::union1d(a, b), tensor_of({1, 2, nan}, at::kFloat)));
  CHECK(same(ht::setdiff1d(a, b), tensor_of({1, nan}, at::kFloat)));
  CHECK(same(ht::setdiff1d(a, b.astype(ht::complex64)), tensor_of({1, nan}, at::kFloat)));
  CHECK(same(ht::setxor1d(a, b), tensor_of({1, 2, nan, nan}, at::kFloat)));
  CHECK(same(ht::isin(a, b), at::zeros({3}, at::kBool)));
}

TEST_CASE("ediff1d is the difference of neighbors", "[ops][sets]") {
  const ht::Shape shape = GENERATE(ht::Shape{9}, ht::Shape{3, 4}, ht::Shape{1}, ht::Shape{0});
  const auto global = scattered_for_sets(shape, at::kLong);
  const auto expected = global.numel() > 0 ? global.flatten().diff() : global;
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::ediff1d(x), expected));
    CHECK(same(ht::ediff1d(x, {.to_begin = {7, 8}, .to_end = {9}}),
               at::cat({tensor_of({7, 8}, at::kLong), expected, tensor_of({9}, at::kLong)})));
  }
  CHECK_THROWS_AS(ht::ediff1d(ht::ones({3}, {.dtype = ht::bool_})), ht::TypeError);
}

TEST_CASE("the ends of ediff1d are converted within their kind", "[ops][sets]") {
  const auto global = at::tensor({1, 2, 5}, at::kLong);
  for (const auto& layout : every_layout({3})) {
    const auto x = distribute(global, layout);
    const auto ends = [&](ht::Dtype dtype, const ht::Scalar& end) {
      return ht::ediff1d(x.astype(dtype), {.to_begin = {true}, .to_end = {end}});
    };
    CHECK(same(ends(ht::int8, 300), at::tensor({1, 1, 3, 44}).to(at::kChar)));
    CHECK(same(ends(ht::int32, 3000000000), at::tensor({1, 1, 3, -1294967296}, at::kInt)));
    CHECK(same(ends(ht::float32, 1e300), at::tensor({1.F, 1.F, 3.F, INFINITY})));
    CHECK_THROWS_AS(ends(ht::int8, 7.0), ht::TypeError);
    CHECK_THROWS_AS(ends(ht::uint8, 7), ht::TypeError);
  }
}

TEST_CASE("differences of infinite complex numbers are those of their parts", "[ops][sets]") {
  const auto global =
      at::complex(tensor_of({1, INFINITY, 2, 0}, at::kDouble), tensor_of({1, 0, 0, INFINITY}, at::kDouble));
  const auto expected =
      at::complex(tensor_of({INFINITY, -INFINITY, -2}, at::kDouble), tensor_of({-1, 0, INFINITY}, at::kDouble));
  for (const auto& layout : every_layout({4})) CHECK(same(ht::ediff1d(distribute(global, layout)), expected));
}

TEST_CASE("sets compare whole numbers with floats without loss", "[ops][sets]") {
  const auto big = std::int64_t{1} << 24;
  for (const auto& layout : every_layout({3})) {
    const auto a = distribute(at::tensor({big, big + 1, std::int64_t{5}}, at::kLong), layout);
    const auto b = ht::array({static_cast<double>(big), 5.0}, {.split = 0});
    CHECK(same(ht::isin(a, b), at::tensor({1, 0, 1}).to(at::kBool)));
    CHECK(same(ht::setdiff1d(a, b), at::tensor({big + 1}, at::kLong)));
    const auto far = (std::int64_t{1} << 53) + 1;
    const auto beyond = distribute(at::tensor({far + 1, std::int64_t{5}, far}, at::kLong), layout);
    CHECK(same(ht::setdiff1d(beyond, b), at::tensor({far, far + 1}, at::kLong)));
  }
}

TEST_CASE("an intersection gives the positions of its elements", "[ops][sets]") {
  const auto a = tensor_of({7, 3, 3, -2, 9, 7}, at::kLong), b = tensor_of({9, 0, 7, 7}, at::kLong);
  for (const auto& layout_a : every_layout({6}))
    for (const auto& layout_b : every_layout({4})) {
      const auto found = ht::intersect1d_indices(distribute(a, layout_a), distribute(b, layout_b));
      CHECK(same(found.values, tensor_of({7, 9}, at::kLong)));
      CHECK(same(found.indices_a, tensor_of({0, 4}, at::kLong)));
      CHECK(same(found.indices_b, tensor_of({2, 0}, at::kLong)));
    }
}

TEST_CASE("distinct slices give their positions", "[ops][sets]") {
  const auto global = (scattered_for_sets({24, 2}, at::kDouble) - 3).remainder(3);
  for (const auto& layout : every_layout({24, 2})) {
    const auto x = distribute(global, layout);
    for (const int axis : {0, 1}) {
      const auto [values, inverse, counts] = at::unique_dim(global, axis, true, true, true);
      auto first = at::empty({values.size(axis)}, at::kLong);
      for (std::int64_t i = 0; i < first.numel(); ++i) first[i] = (inverse == i).nonzero().min();
      const auto found = ht::unique_all(x, axis);
      CHECK(same(found.values, values));
      CHECK(same(found.indices, first));
      CHECK(same(found.inverse, inverse));
      CHECK(same(found.counts, counts));
    }
  }
}

TEST_CASE("no rank of many gathers more than 4 MiB of keys to cut them", "[ops][sorting]") {
  using ht::detail::gathers_keys;
  CHECK(gathers_keys<std::uint32_t>(240, 2));  // few keys: 960 bytes for each further rank
  CHECK(gathers_keys<std::uint32_t>(1 << 20, 100000));
  CHECK_FALSE(gathers_keys<std::uint32_t>((1 << 20) + 1, 100000));
  CHECK_FALSE(gathers_keys<std::uint64_t>((1 << 19) + 1, 10000));
}
