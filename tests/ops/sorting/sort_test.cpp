#include "../../support.hpp"

#include <heatpp/ops/sorting/sort.hpp>

#include <numeric>

namespace {

/// Returns numbers with many ties, and NaN and both infinities if the type has them.
at::Tensor scattered_to_sort(const ht::Shape& shape, at::ScalarType type) {
  const auto n = ht::size_of(shape);
  auto x = ((at::arange(n, at::kDouble) * 0.618).frac() * 90 - 40).floor();
  if (at::isFloatingType(type) && n > 9) {
    x[3] = x[n - 2] = NAN;
    x[5] = INFINITY;
    x[8] = -INFINITY;
  }
  if (type == at::kBool) x = x > 0;
  if (type == at::kByte) x = x + 40;
  return x.reshape(shape).to(type);
}

/// Returns LibTorch's stable sort, whose values and positions are NumPy's.
std::tuple<at::Tensor, at::Tensor> oracle(const at::Tensor& x, int axis, bool descending = false) {
  return at::sort(x, /*stable=*/true, axis, descending);
}

const auto real_types = {at::kBool, at::kByte, at::kChar,     at::kShort, at::kInt,
                         at::kLong, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};

}  // namespace

TEST_CASE("sort and argsort equal LibTorch's for every layout and axis", "[ops][sort]") {
  const ht::Shape shape = GENERATE(ht::Shape{7}, ht::Shape{9, 3}, ht::Shape{2, 5, 4}, ht::Shape{0, 3}, ht::Shape{1});
  const auto global = scattered_to_sort(shape, at::kFloat);
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    for (int axis = 0; axis < x.ndim(); ++axis) {
      const auto [values, indices] = oracle(global, axis);
      const auto sorted = ht::sort(x, axis);
      CHECK(same(sorted, values));
      CHECK(sorted.layout() == layout);
      CHECK(same(ht::argsort(x, axis), indices));
    }
    CHECK(same(ht::sort(x), std::get<0>(oracle(global, -1))));
    CHECK(same(ht::sort(x, {.axis = std::nullopt}), std::get<0>(oracle(global.flatten(), 0))));
    CHECK(same(ht::argsort(x, std::nullopt), std::get<1>(oracle(global.flatten(), 0))));
  }
}

TEST_CASE("every dtype is sorted", "[ops][sort]") {
  const auto type = GENERATE(from_range(real_types));
  const std::int64_t n = GENERATE(500, 20000);
  const auto global = scattered_to_sort({n}, type);
  const auto [values, indices] = oracle(global, 0);
  for (const auto& layout : every_layout({n})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::sort(x), values));
    CHECK(same(ht::argsort(x), indices));
  }
}

TEST_CASE("long columns are sorted with exact splitters", "[ops][sort]") {
  const ht::Shape shape{20000, 2};
  for (const auto type : {at::kByte, at::kFloat, at::kLong}) {
    const auto global = scattered_to_sort(shape, type);
    for (const auto& layout : every_layout(shape)) {
      const auto x = distribute(global, layout);
      CHECK(same(ht::sort(x, 0), std::get<0>(oracle(global, 0))));
      CHECK(same(ht::argsort(x, 0), std::get<1>(oracle(global, 0))));
    }
  }
}

TEST_CASE("descending sort is stable and has NaN first", "[ops][sort]") {
  const auto global = scattered_to_sort({50, 3}, at::kDouble);
  for (const auto& layout : every_layout({50, 3})) {
    const auto x = distribute(global, layout);
    const auto [values, indices] = oracle(global, 0, true);
    CHECK(same(ht::sort(x, {.axis = 0, .descending = true}), values));
    CHECK(same(ht::argsort(x, {.axis = 0, .descending = true}), indices));
  }
}

TEST_CASE("complex numbers are sorted by their real, then their imaginary parts, with NaN at the end", "[ops][sort]") {
  using C = std::complex<double>;
  const auto nan = static_cast<double>(NAN);
  // These are in NumPy's order.
  const std::vector<C> ordered{{-2, 5},       {-1, -1}, {-1, 7},  {0, -3},   {0, 4},   {3, 0},
                               {INFINITY, 1}, {1, nan}, {2, nan}, {nan, -1}, {nan, 3}, {nan, nan}};
  const std::vector<int> shuffle{5, 0, 9, 11, 3, 7, 1, 10, 2, 8, 4, 6};
  auto expected = at::empty({12}, at::kComplexDouble), global = at::empty({12}, at::kComplexDouble);
  auto positions = at::empty({12}, at::kLong);
  for (std::size_t i = 0; i < 12; ++i) {
    const auto from = static_cast<std::size_t>(shuffle[i]);
    expected.data_ptr<c10::complex<double>>()[i] = ordered[i];
    global.data_ptr<c10::complex<double>>()[i] = ordered[from];
    positions.data_ptr<std::int64_t>()[from] = static_cast<std::int64_t>(i);
  }
  for (const auto type : {at::kComplexFloat, at::kComplexDouble})
    for (const auto& layout : every_layout({12})) {
      const auto x = distribute(global.to(type), layout);
      CHECK(same(at::view_as_real(gathered(ht::sort(x))).is_contiguous() ? ht::argsort(x) : x, positions));
      CHECK(equals(at::view_as_real(gathered(ht::sort(x))).nan_to_num(99),
                   at::view_as_real(expected.to(type)).nan_to_num(99)));
    }
}

TEST_CASE("sort_complex widens as NumPy", "[ops][sort]") {
  CHECK(ht::sort_complex(ht::array({3, 1, 2}, {.dtype = ht::int16, .split = 0})).dtype() == ht::complex64);
  CHECK(ht::sort_complex(ht::array({3, 1, 2}, {.dtype = ht::int32, .split = 0})).dtype() == ht::complex128);
  CHECK(same(ht::sort_complex(ht::array({3.0, 1.0, 2.0}, {.split = 0})),
             at::tensor({1.0, 2.0, 3.0}, at::kComplexDouble)));
}

TEST_CASE("signs of zeros are kept and do not order positions", "[ops][sort]") {
  const auto x = ht::array({0.0, -0.0, 0.0, -0.0}, {.split = 0});
  CHECK(gathered(ht::sort(x)).signbit().sum().item<int>() == 2);
  CHECK(same(ht::argsort(x), at::arange(4)));
}

TEST_CASE("partition puts the k-th element in its place", "[ops][sort]") {
  const auto global = scattered_to_sort({40}, at::kInt);
  const auto x = distribute(global, ht::Layout({40}, 0, ht::world().size()));
  CHECK(same(ht::partition(x, 7), std::get<0>(oracle(global, 0))));
  CHECK(same(ht::argpartition(x, -1), std::get<1>(oracle(global, 0))));
  CHECK_THROWS_WITH(ht::partition(x, 40), Catch::Contains("[partition] got kth = 40"));
  CHECK(same(ht::partition(ht::zeros({0, 3}, {.split = 0}), 5, 0), at::zeros({0, 3})));
  CHECK(same(ht::argpartition(ht::zeros({0}), 0), at::zeros({0}, at::kLong)));
}

TEST_CASE("lexsort sorts by the last key, then by those before", "[ops][sort]") {
  const auto minor = scattered_to_sort({30, 2}, at::kDouble), major = at::arange(60).reshape({30, 2}).remainder(3);
  for (const auto& layout : every_layout({30, 2})) {
    const auto order = ht::lexsort({distribute(minor, layout), distribute(major, layout)}, 0);
    const auto first = std::get<1>(oracle(minor, 0));
    const auto second = std::get<1>(oracle(major.gather(0, first), 0));
    CHECK(same(order, first.gather(0, second)));
  }
  CHECK(same(ht::lexsort({ht::zeros({})}), at::zeros({}, at::kLong)));
  CHECK_THROWS_AS(ht::lexsort({ht::zeros({})}, 3), ht::IndexError);
  CHECK_THROWS_AS(ht::lexsort({}), ht::ValueError);
  CHECK_THROWS_AS(ht::lexsort({ht::ones({2}), ht::ones({3})}), ht::ValueError);
}

TEST_CASE("topk finds most of a long axis", "[ops][sort]") {
  for (const auto type : {at::kFloat, at::kLong}) {
    const auto global = scattered_to_sort({20000}, type);
    const auto [values, indices] = oracle(global, 0, true);
    for (const auto& layout : every_layout({20000})) {
      const auto top = ht::topk(distribute(global, layout), 15000);
      CHECK(same(top.values, values.narrow(0, 0, 15000)));
      CHECK(same(top.indices, indices.narrow(0, 0, 15000)));
    }
  }
}

TEST_CASE("topk finds the largest and smallest elements and their positions", "[ops][sort]") {
  const ht::Shape shape = GENERATE(ht::Shape{11, 3}, ht::Shape{3000, 2});
  for (const auto type : {at::kFloat, at::kLong, at::kByte}) {
    const auto global = scattered_to_sort(shape, type);
    for (const auto& layout : every_layout(shape)) {
      const auto x = distribute(global, layout);
      for (const int axis : {0, 1})
        for (const bool largest : {true, false})
          for (const std::int64_t k : {0, 1, 2, 9}) {
            if (k > shape[static_cast<std::size_t>(axis)]) continue;
            const auto [values, indices] = oracle(global, axis, largest);
            const auto top = ht::topk(x, k, {.axis = axis, .largest = largest});
            CHECK(same(top.values, values.narrow(axis, 0, k)));
            CHECK(same(top.indices, indices.narrow(axis, 0, k)));
            CHECK(top.values.split() == x.split());
          }
    }
  }
  CHECK_THROWS_WITH(ht::topk(ht::ones({3}), 4), Catch::Contains("[topk] got k = 4"));
  CHECK_THROWS_AS(ht::topk(ht::ones({3}), -1), ht::ValueError);
  CHECK_THROWS_AS(ht::sort(ht::ones({3}), 1), ht::IndexError);
}
