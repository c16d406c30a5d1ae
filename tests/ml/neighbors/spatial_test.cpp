#include "../data.hpp"

#include <heatpp/ml/neighbors/spatial.hpp>

namespace {

using Catch::Contains;

std::optional<int> split_of(const ht::Layout& x, const ht::Layout& y) {
  if (x.split()) return 0;
  return y.split() ? std::optional(1) : std::nullopt;
}

at::Tensor some_rows(std::int64_t n, std::int64_t features) {
  return (at::arange(n * features, at::kDouble) * 0.618).frac().reshape({n, features});
}

}  // namespace

TEST_CASE("distances are LibTorch's for every pair of layouts", "[ml][spatial]") {
  const auto x = some_rows(11, 5), y = some_rows(7, 5) * 3;
  for (const auto type : {at::kFloat, at::kDouble})
    for (const auto& a : every_layout({11, 5}))
      for (const auto& b : every_layout({7, 5})) {
        const auto left = distribute(x.to(type), a), right = distribute(y.to(type), b);
        const auto tolerance = type == at::kFloat ? 1e-6 : 1e-14;
        const auto distances = ht::spatial::cdist(left, right);
        CHECK(distances.dtype() == left.dtype());
        CHECK(distances.split() == split_of(a, b));
        CHECK(close(distances, at::cdist(x, y, 2, 2).to(type), tolerance));
        CHECK(close(ht::spatial::cdist(left, right, {.quadratic_expansion = true}), at::cdist(x, y, 2, 2).to(type),
                    tolerance * 10));
        CHECK(close(ht::spatial::manhattan(left, right), at::cdist(x, y, 1).to(type), tolerance));
        CHECK(close(ht::spatial::rbf(left, right, {.sigma = 2}), (at::cdist(x, y, 2, 2).square() / -8).exp().to(type),
                    tolerance));
      }
}

TEST_CASE("distances of rows among themselves are 0 for a row and itself", "[ml][spatial]") {
  const auto x = iris();
  for (const auto& layout : every_layout({150, 4})) {
    const auto rows = distribute(x, layout);
    for (const bool expansion : {false, true}) {
      const auto distances = ht::spatial::cdist(rows, {.quadratic_expansion = expansion});
      CHECK(close(distances, at::cdist(x, x, 2, 2), expansion ? 1e-7 : 1e-14));
      CHECK(gathered(distances).diagonal().abs().max().item<double>() == 0);
      const auto similarities = ht::spatial::rbf(rows, {.quadratic_expansion = expansion});
      CHECK(each_is(gathered(similarities).diagonal(), 1));
    }
    CHECK(close(ht::spatial::manhattan(rows), at::cdist(x, x, 1), 1e-13));
  }
}

TEST_CASE("float32 rows far from 0 have the distances of rows near it", "[ml][spatial]") {
  // Enough features for the product, if it is asked for.
  const auto far = (iris().repeat({1, 32}) / std::sqrt(32.0) + 1e4).to(at::kFloat);
  const auto exact = at::cdist(far.to(at::kDouble), far.to(at::kDouble), 2, 2);
  for (const auto& layout : every_layout({150, 128}))
    for (const bool expansion : {false, true}) {
      const auto distances = gathered(ht::spatial::cdist(distribute(far, layout), {.quadratic_expansion = expansion}));
      CHECK((distances - exact).abs().max().item<double>() < (expansion ? 2e-2 : 1e-5));
    }
}

TEST_CASE("few rows and many, of few features and of many", "[ml][spatial]") {
  for (const std::int64_t features : {3, 70, 130})
    for (const auto type : {at::kFloat, at::kDouble}) {
      const auto many = some_rows(1200, features).to(type), few = (some_rows(531, features) - 0.5).to(type);
      const auto rows = distribute(many, ht::Layout({1200, features}, 0, ht::world().size()));
      const auto tolerance = type == at::kFloat ? 1e-4 : 1e-11;
      const auto to_few = at::cdist(many.to(at::kDouble), few.to(at::kDouble), 2, 2);
      const auto among = at::cdist(many.to(at::kDouble), many.to(at::kDouble), 2, 2);
      for (const bool expansion : {false, true}) {
        CHECK(close(ht::spatial::cdist(rows, ht::from_local(few), {.quadratic_expansion = expansion}), to_few.to(type),
                    tolerance));
        const auto distances = ht::spatial::cdist(rows, {.quadratic_expansion = expansion});
        CHECK(close(distances, among.to(type), expansion ? std::sqrt(tolerance) : tolerance));
        CHECK(gathered(distances).diagonal().abs().max().item<double>() == 0);
        CHECK(close(ht::spatial::rbf(rows, {.sigma = 3, .quadratic_expansion = expansion}),
                    (among.square() / -18).exp().to(type), tolerance));
      }
    }
}

TEST_CASE("distances of whole numbers, and of no rows", "[ml][spatial]") {
  const auto whole = at::arange(12, at::kLong).reshape({6, 2});
  for (const auto& layout : every_layout({6, 2})) {
    const auto rows = distribute(whole, layout);
    CHECK(same(ht::spatial::manhattan(rows), at::cdist(whole.to(at::kDouble), whole.to(at::kDouble), 1)));
    const auto none = ht::spatial::cdist(rows, ht::zeros({0, 2}, {.split = 0}));
    CHECK(none.shape() == ht::Shape{6, 0});
  }
}

TEST_CASE("numbers that are not finite affect only their own distances", "[ml][spatial]") {
  auto x = some_rows(9, 3);
  x[4][1] = NAN;
  for (const auto& layout : every_layout({9, 3})) {
    const auto bad = gathered(ht::spatial::cdist(distribute(x, layout))).isnan();
    CHECK(bad.sum().item<std::int64_t>() == 17);
    CHECK(each_is(bad[4], true));
  }
}

TEST_CASE("rows that do not fit are errors on all ranks", "[ml][spatial]") {
  const auto x = ht::ones({8, 3}, {.split = 0});
  CHECK_THROWS_WITH(ht::spatial::cdist(x, ht::ones({4, 2})), Contains("[cdist] got rows of 3 and of 2 features"));
  CHECK_THROWS_WITH(ht::spatial::rbf(x, {.sigma = 0}), Contains("[rbf] got sigma 0"));
  CHECK_THROWS_AS(ht::spatial::manhattan(ht::ones({8}, {.split = 0})), ht::ValueError);
  CHECK_THROWS_AS(ht::spatial::cdist(x, ht::from_local(gathered(x), {.comm = ht::self()})), ht::CommError);
}
