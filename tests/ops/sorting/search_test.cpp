#include "../../support.hpp"

#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/indexing/trim.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/sorting/detail/first_keys.hpp>
#include <heatpp/ops/sorting/search.hpp>

namespace {

at::Tensor scattered_to_search(const ht::Shape& shape, at::ScalarType type, double spread = 50) {
  return ((at::arange(ht::size_of(shape), at::kDouble) * 0.618).frac() * spread).floor().reshape(shape).to(type);
}

}  // namespace

TEST_CASE("searchsorted finds places for any two layouts", "[ops][search]") {
  const std::int64_t n = GENERATE(0, 1, 12, 900);
  const auto sorted = std::get<0>(scattered_to_search({n}, at::kInt).sort()) + 2;
  const ht::Shape shape = GENERATE(ht::Shape{6}, ht::Shape{5, 3}, ht::Shape{700});
  const auto wanted = scattered_to_search(shape, at::kDouble, 110) / 2;
  for (const auto& layout_a : every_layout({n}))
    for (const auto& layout_v : every_layout(shape)) {
      const auto a = distribute(sorted, layout_a), v = distribute(wanted, layout_v);
      CHECK(same(ht::searchsorted(a, v), at::searchsorted(sorted.to(at::kDouble), wanted)));
      CHECK(same(ht::searchsorted(a, v, {.side = ht::Side::right}),
                 at::searchsorted(sorted.to(at::kDouble), wanted, false, /*right=*/true)));
      CHECK(ht::searchsorted(a, v).layout() == layout_v);
    }
}

TEST_CASE("searchsorted finds many places in a large array", "[ops][search]") {
  const auto sorted = std::get<0>(scattered_to_search({300000}, at::kFloat, 1e5).sort()),
             wanted = scattered_to_search({20000}, at::kFloat, 2e5) - 99;
  for (const auto& layout : every_layout({20000})) {
    const auto a = distribute(sorted, {{300000}, 0, ht::world().size()}), v = distribute(wanted, layout);
    CHECK(same(ht::searchsorted(a, v), at::searchsorted(sorted, wanted)));
    CHECK(same(ht::searchsorted(distribute(sorted, {{300000}, std::nullopt, ht::world().size()}), v,
                                {.side = ht::Side::right}),
               at::searchsorted(sorted, wanted, false, /*right=*/true)));
  }
}

TEST_CASE("searchsorted looks for few places without passing over the array", "[ops][search]") {
  const auto sorted = std::get<0>(scattered_to_search({5001}, at::kInt, 3000).sort());  // with equal ones
  for (const auto& layout_a : every_layout({5001}))
    for (const std::int64_t n : {1, 7}) {
      const auto wanted = scattered_to_search({n}, at::kDouble, 3500) - 150.5;
      const auto number = wanted[0].round().item<double>();
      const auto a = distribute(sorted, layout_a);
      for (const auto& layout_v : every_layout({n})) {
        const auto v = distribute(wanted.round(), layout_v);
        CHECK(same(ht::searchsorted(a, v), at::searchsorted(sorted.to(at::kDouble), wanted.round())));
        CHECK(same(ht::searchsorted(a, v, {.side = ht::Side::right}),
                   at::searchsorted(sorted.to(at::kDouble), wanted.round(), false, /*right=*/true)));
      }
      CHECK(ht::searchsorted(a, number).item<std::int64_t>() == (sorted < number).sum().item<std::int64_t>());
    }
}

TEST_CASE("places are found by the first keys of all ranks, and of groups of ranks", "[ops][search]") {
  using Keys = ht::detail::Rows<std::uint32_t>;
  using Places = ht::detail::Rows<std::int64_t>;
  const auto& comm = ht::world();
  const auto keys_in = [](const at::Tensor& numbers) {
    return Keys(numbers.to(at::kInt).contiguous().view(at::kByte).view({-1, 4}));
  };
  const auto sorted = std::get<0>(scattered_to_search({40}, at::kInt, 12).sort()) + 2;  // with equal ones
  const auto wanted = scattered_to_search({4 + 3 * comm.rank()}, at::kInt, 16);
  for (const auto& layout : every_layout({40})) {
    if (!layout.split()) continue;
    const auto& cut = layout.cut();
    const auto mine = sorted.slice(0, cut.first(comm.rank()), cut.last(comm.rank()));
    const ht::detail::FirstKey<std::uint32_t> first{keys_in(mine.slice(0, 0, 1)), cut};
    for (const bool right : {false, true}) {
      const ht::detail::FindHere<std::uint32_t> find = [&](const Keys& keys) {
        const auto numbers = keys.bytes().view(at::kInt).view({-1});
        const auto places = at::searchsorted(mine, numbers, false, right) + cut.first(comm.rank());
        return Places(places.view(at::kByte).view({-1, 8}));
      };
      const auto side = right ? ht::Side::right : ht::Side::left;
      const auto expected = at::searchsorted(sorted, wanted, false, right);
      const auto by_owners = ht::detail::found_by_owners(first, keys_in(wanted), side, comm, find),
                 by_groups = ht::detail::found_by_groups(first, keys_in(wanted), side, comm, find);
      CHECK(equals(by_owners.bytes().view(at::kLong).view({-1}), expected));
      CHECK(equals(by_groups.bytes().view(at::kLong).view({-1}), expected));
    }
  }
}

TEST_CASE("searchsorted takes the order of the array", "[ops][search]") {
  const auto a = ht::array({30, 10, 20}, {.split = 0}), order = ht::array({1, 2, 0}, {.split = 0});
  CHECK(same(ht::searchsorted(a, ht::array({15, 31, 10}), {.sorter = order}), at::tensor({1, 3, 0}, at::kLong)));
}

TEST_CASE("a sorter that is none is refused by all ranks", "[ops][search]") {
  const auto global = at::tensor({30, 10, 20}, at::kLong);
  for (const auto& layout : every_layout({3})) {
    const auto a = distribute(global, layout);
    const auto search = [&](const ht::DNDarray& sorter) { return ht::searchsorted(a, 15, {.sorter = sorter}); };
    const auto order = [&](const std::vector<std::int64_t>& places) {
      return distribute(at::tensor(places, at::kLong), layout);
    };
    CHECK(same(search(order({1, 2, 0}).astype(ht::uint8)), at::full({}, 1, at::kLong)));
    CHECK_THROWS_AS(search(order({1, 2, 3})), ht::ValueError);
    CHECK_THROWS_WITH(search(order({1, 2, -3})),
                      Catch::Contains("[searchsorted] got position -3; expected 0 <= position < 3"));
    CHECK_THROWS_AS(search(order({1, 2, 0}) * 1.0), ht::TypeError);
    CHECK_THROWS_AS(search(order({1, 2, 0}) > 0), ht::TypeError);
    CHECK_THROWS_AS(search(ht::array({1, 2})), ht::ValueError);
    CHECK_THROWS_AS(search(ht::array({{1, 2, 0}})), ht::ValueError);
  }
}

TEST_CASE("positions among whole numbers beyond 2^53", "[ops][search]") {
  const auto global = at::arange(4, at::kLong) + (1LL << 53);
  for (const auto& layout : every_layout({4}))
    for (const auto& other : every_layout({4})) {
      const auto x = distribute(global, layout), bins = distribute(global, other);
      CHECK(same(ht::digitize(x, bins), at::arange(1, 5)));
      CHECK(same(ht::digitize(x, distribute(global.flip(0), other)), at::arange(4).flip(0)));
      CHECK(ht::searchsorted(bins, (1LL << 53) + 1).item<std::int64_t>() == 1);
    }
}

TEST_CASE("searchsorted has NaN last and takes numbers", "[ops][search]") {
  const auto a = ht::array({1.0, 3.0, NAN, NAN}, {.split = 0});
  CHECK(ht::searchsorted(a, 3).item<std::int64_t>() == 1);
  CHECK(ht::searchsorted(a, NAN).item<std::int64_t>() == 2);
  CHECK(ht::searchsorted(a, NAN, {.side = ht::Side::right}).item<std::int64_t>() == 4);
  CHECK(ht::searchsorted(ht::array({16777217, 16777218}, {.split = 0}), 16777217.5).item<std::int64_t>() == 1);
  CHECK_THROWS_AS(ht::searchsorted(ht::ones({2, 2}), 1), ht::ValueError);
}

TEST_CASE("numbers are looked up as they are", "[ops][search]") {
  const auto x = ht::array({0.1, 0.2, 0.7}, {.split = 0}).astype(ht::float32);
  CHECK(ht::searchsorted(x, 0.1, {.side = ht::Side::right}).item<std::int64_t>() == 0);
  CHECK(ht::searchsorted(x, 0.7).item<std::int64_t>() == 3);
  CHECK(ht::searchsorted(x, 0.5).item<std::int64_t>() == 2);
}

TEST_CASE("digitize and bucketize number the bins of elements", "[ops][search]") {
  const auto global = scattered_to_search({8, 3}, at::kFloat);
  const auto bins = at::tensor({5.0F, 10.0F, 10.0F, 30.0F, 45.0F});
  for (const auto& layout : every_layout({8, 3}))
    for (const auto& cut : every_layout({5})) {
      const auto x = distribute(global, layout), edges = distribute(bins, cut);
      const auto left = at::searchsorted(bins, global), right = at::searchsorted(bins, global, false, true);
      CHECK(same(ht::digitize(x, edges), right));
      CHECK(same(ht::digitize(x, edges, {.right = true}), left));
      CHECK(same(ht::bucketize(x, edges), left));
      CHECK(same(ht::bucketize(x, edges, {.right = true}), right));
      CHECK(same(ht::digitize(x, distribute(bins.flip(0), cut)), 5 - right));
    }
  for (const auto& cut : every_layout({4})) {
    const auto x = distribute(at::tensor({0.5, 2.5}, at::kDouble), ht::Layout({2}, 0, ht::world().size()));
    const auto numbers_in = [&](std::vector<double> edges) {
      return ht::digitize(x, distribute(at::tensor(edges, at::kDouble), cut));
    };
    CHECK(same(numbers_in({1, 1, 1, 2}), at::tensor({0, 4}, at::kLong)));
    CHECK(same(numbers_in({2, 1, 1, 1}), at::tensor({4, 0}, at::kLong)));
    CHECK(same(numbers_in({1, 1, 1, 1}), at::tensor({0, 4}, at::kLong)));
    for (const auto& bad : std::vector<std::vector<double>>{{1, 3, 2, 4}, {1, 1, 3, 2}, {3, 1, 2, 2}, {3, 3, 2, 3}})
      CHECK_THROWS_AS(numbers_in(bad), ht::ValueError);
  }
}

TEST_CASE("values are looked up in many split bins", "[ops][search]") {
  const auto bins = at::arange(0, 3000, 3, at::kInt), values = scattered_to_search({40}, at::kInt, 3000);
  const auto right = at::searchsorted(bins, values, false, true);
  for (const auto& cut : every_layout({1000}))
    for (const auto& layout : every_layout({40})) {
      const auto x = distribute(values, layout);
      CHECK(same(ht::digitize(x, distribute(bins, cut)), right));
      CHECK(same(ht::digitize(x, distribute(bins.flip(0), cut)), 1000 - right));
    }
}

TEST_CASE("digitize's falling bins are closed on the other side", "[ops][search]") {
  const auto x = ht::array({0.2, 6.4, 3.0, 1.6}, {.split = 0}), bins = ht::array({4.0, 3.0, 1.0});
  CHECK(same(ht::digitize(x, bins), at::tensor({3, 0, 1, 2}, at::kLong)));
  CHECK(same(ht::digitize(x, bins, {.right = true}), at::tensor({3, 0, 2, 2}, at::kLong)));
}

TEST_CASE("digitize's bins may end with NaN", "[ops][search]") {
  const auto x = ht::array({1.0, 2.0, 4.0, double{NAN}}, {.split = 0});
  const auto bins = at::tensor({1.0, 3.0, double{NAN}}, at::kDouble);
  for (const auto& cut : every_layout({3})) {
    CHECK(same(ht::digitize(x, distribute(bins, cut)), at::tensor({1, 1, 2, 3}, at::kLong)));
    CHECK_THROWS_AS(ht::digitize(x, distribute(bins.roll(1), cut)), ht::ValueError);
  }
}

TEST_CASE("count_nonzero counts along axes", "[ops][search]") {
  const auto global = scattered_to_search({7, 4}, at::kFloat, 3);
  for (const auto& layout : every_layout({7, 4})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::count_nonzero(x), at::count_nonzero(global)));
    for (const int axis : {0, 1}) CHECK(same(ht::count_nonzero(x, axis), (global != 0).sum(axis)));
  }
}

TEST_CASE("trim_zeros cuts zeros off the ends", "[ops][search]") {
  auto line = at::zeros({9}, at::kInt);
  line.narrow(0, 2, 4).fill_(5);
  line[3] = 0;
  auto plane = at::zeros({5, 6}, at::kFloat);
  plane[1][2] = plane[3][4] = 1;
  for (const auto& layout : every_layout({9})) {
    const auto x = distribute(line, layout);
    CHECK(same(ht::trim_zeros(x), line.narrow(0, 2, 4)));
    CHECK(same(ht::trim_zeros(x, {.trim = "f"}), line.narrow(0, 2, 7)));
    CHECK(same(ht::trim_zeros(x, {.trim = "b"}), line.narrow(0, 0, 6)));
    CHECK(same(ht::trim_zeros(x, {.trim = "B"}), line.narrow(0, 0, 6)));
    CHECK(same(ht::trim_zeros(distribute(at::zeros({9}), layout), {.trim = "f"}), at::zeros({0})));
  }
  for (const auto& layout : every_layout({5, 6})) {
    const auto x = distribute(plane, layout);
    CHECK(same(ht::trim_zeros(x), plane.narrow(0, 1, 3).narrow(1, 2, 3)));
    CHECK(same(ht::trim_zeros(x, {.trim = "bf", .axis = 1}), plane.narrow(1, 2, 3)));
  }
  CHECK_THROWS_AS(ht::trim_zeros(ht::ones({2}), {.trim = "x"}), ht::ValueError);
}

TEST_CASE("counts begin at 0", "[ops][search]") {
  CHECK_THROWS_AS(ht::count_nonzero(ht::ones({3}, {.split = 0}), {.initial = 5}), ht::ValueError);
}
