#include "../support.hpp"

#include <heatpp/core/detail/peers/whole_by_sum.hpp>

#include <numeric>

TEST_CASE("resplit from every layout to every split", "[core][redistribute]") {
  const ht::Shape shape =
      GENERATE(ht::Shape{5, 3}, ht::Shape{2, 7, 3}, ht::Shape{1, 1}, ht::Shape{0, 4}, ht::Shape{300, 41});
  const auto global = at::arange(ht::size_of(shape), at::kFloat).reshape(shape);
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    for (int split = -1; split < static_cast<int>(shape.size()); ++split) {
      const auto target = split < 0 ? std::nullopt : std::optional(split);
      const auto y = ht::resplit(x, target);

      CHECK(y.split() == target);
      if (split != layout.split().value_or(-1)) CHECK(y.is_balanced());
      CHECK(same(y, global));
    }
    CHECK(same(x, global));
  }
}

TEST_CASE("balance and redistribute move blocks along the split axis", "[core][redistribute]") {
  const ht::Shape shape{7, 4};
  const auto global = at::arange(28, at::kLong).reshape(shape);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ht::world().size()), 0);
  counts.back() = 7;
  for (const auto& layout : every_layout(shape)) {
    const auto x = distribute(global, layout);
    CHECK(ht::balance(x).is_balanced());
    CHECK(same(ht::balance(x), global));
    if (layout.split() == 0) {
      const auto y = ht::redistribute(x, counts);
      CHECK(y.lshape()[0] == (ht::world().rank() == ht::world().size() - 1 ? 7 : 0));
      CHECK(same(y, global));
    }
  }
}

TEST_CASE("redistribution keeps every dtype", "[core][redistribute]") {
  for (const auto dtype : {ht::bool_, ht::int8, ht::float16, ht::bfloat16, ht::complex128}) {
    const auto global = at::arange(12, at::kLong).reshape({4, 3}).to(ht::to_torch(dtype));
    CHECK(same(ht::resplit(distribute(global, ht::Layout({4, 3}, 0, ht::world().size())), 1), global));
  }
}

TEST_CASE("an array that is not recut is a value that shares memory until a write", "[core][redistribute]") {
  const auto x = ht::zeros({4, 4}, {.split = 0});
  auto y = ht::resplit(x, 0), z = ht::balance(x);
  if (x.larray().numel() > 0) CHECK(y.larray().const_data_ptr() == x.larray().const_data_ptr());
  y.mutable_larray().fill_(1);
  z.mutable_larray().fill_(2);
  CHECK(same(x, at::zeros({4, 4})));
}

TEST_CASE("a non-contiguous block moves as its elements read", "[core][redistribute]") {
  const auto global = at::arange(12).reshape({3, 4});
  const auto x = ht::from_local(global.t(), {});
  CHECK(same(ht::resplit(ht::resplit(x, 0), 1), global.t().contiguous()));
}

TEST_CASE("the whole of few bytes is a sum of bits", "[core][redistribute]") {
  for (const auto dtype : {at::kBool, at::kHalf, at::kInt, at::kDouble, at::kComplexDouble}) {
    auto global = at::arange(-7, 8, at::kDouble).view({5, 3}).to(dtype);
    if (at::isFloatingType(dtype)) global[0][0] = -0.0, global[1][1] = NAN;
    for (const auto& layout : every_layout({5, 3})) {
      if (!layout.split()) continue;
      const auto x = distribute(global, layout);
      const auto whole = ht::detail::whole_by_sum(x.larray(), layout, x.comm()).cpu();
      CHECK(at::equal(whole.view(at::kByte), global.view(at::kByte)));
    }
  }
  CHECK_FALSE(ht::detail::is_less_than_lists(8, 1024));
  CHECK(ht::detail::is_less_than_lists(100'000, 2048));
  CHECK_FALSE(ht::detail::is_less_than_lists(1'000'000, 2048));
}

TEST_CASE("bad counts are an error on all ranks", "[core][redistribute]") {
  const auto x = ht::zeros({4}, {.split = 0});
  CHECK_THROWS_AS(ht::redistribute(x, {1, 2, 3, 4, 5}), ht::ValueError);
  CHECK_THROWS_AS(ht::redistribute(x, std::vector<std::int64_t>(static_cast<std::size_t>(ht::world().size()), 3)),
                  ht::ValueError);
  CHECK_THROWS_WITH(ht::resplit(x, 1), Catch::Contains("[resplit] got axis 1"));
  if (ht::world().size() == 1) return;
  // Each rank asks for all rows; one has no counts.
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ht::world().size()));
  counts[static_cast<std::size_t>(ht::world().rank())] = 4;
  CHECK_THROWS_WITH(ht::redistribute(x, counts), Catch::Contains("differ by rank"));
  if (ht::world().rank() == 1) counts.clear();
  CHECK_THROWS_WITH(ht::redistribute(x, counts), Catch::Contains("expected one for each"));
}

TEST_CASE("a large exchange moves each element once", "[core][redistribute]") {
  const auto p = ht::world().size();
  const auto x = ht::zeros({64 * p, 64 * p}, {.dtype = ht::float32, .split = 0});
  const auto before = x.comm().counters();
  const auto y = ht::resplit(x, 1);
  CHECK(x.comm().counters().calls - before.calls == (p > 1));
  CHECK(x.comm().counters().bytes - before.bytes == std::int64_t{64} * 64 * 4 * (p - 1));
}
