#include "../support.hpp"
#include "cdf.hpp"

#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/sorting/sort.hpp>
#include <heatpp/random/random.hpp>

#include <map>

namespace rnd = ht::random;

namespace {

/// Whether counts are equally likely by Pearson's test.
bool uniform_counts(const std::vector<double>& counts, double expected) {
  double statistic = 0;
  for (const auto count : counts) statistic += (count - expected) * (count - expected) / expected;
  return 1 - cdf::gamma_p((static_cast<double>(counts.size()) - 1) / 2, statistic / 2) > 1e-4;
}

}  // namespace

TEST_CASE("a permutation has every number once, on any layout", "[random][permutation]") {
  for (const std::int64_t n : {0, 1, 2, 7, 4096, 4097, 10'000}) {
    rnd::Generator g(3), h(3);
    const auto x = g.permutation(n, {.split = 0});
    CHECK(same(h.permutation(n), gathered(x)));
    CHECK(equals(std::get<0>(gathered(x).sort()), at::arange(n)));
    if (n > 7) CHECK(!at::equal(gathered(x), at::arange(n)));
    if (n > 7) CHECK(!at::equal(gathered(g.permutation(n)), gathered(x)));
  }
  CHECK_THROWS_AS(rnd::randperm(-1), ht::ValueError);
}

TEST_CASE("short permutations are all as likely, and long ones move elements anywhere", "[random][permutation]") {
  rnd::Generator g(4);
  std::map<std::vector<double>, double> count;
  for (int i = 0; i < 4800; ++i) ++count[g.permutation(4).to_vector<double>()];
  std::vector<double> counts;
  for (const auto& [order, times] : count) counts.push_back(times);
  CHECK(counts.size() == 24);
  CHECK(uniform_counts(counts, 200));

  constexpr std::int64_t n = 6000, cells = 12, repeats = 20;
  std::vector<double> moved(cells * cells), steps(cells);
  for (int i = 0; i < repeats; ++i) {
    const auto order = g.permutation(n).to_vector<double>();
    for (std::int64_t j = 0; j < n; ++j) {
      ++moved[static_cast<std::size_t>(j * cells / n * cells +
                                       static_cast<std::int64_t>(order[static_cast<std::size_t>(j)]) * cells / n)];
      const auto step = order[static_cast<std::size_t>((j + 1) % n)] - order[static_cast<std::size_t>(j)] + n;
      ++steps[static_cast<std::size_t>(static_cast<std::int64_t>(step) % n * cells / n)];
    }
  }
  CHECK(uniform_counts(moved, n * repeats / static_cast<double>(cells * cells)));
  CHECK(uniform_counts(steps, n * repeats / static_cast<double>(cells)));
}

TEST_CASE("permutation and shuffle move rows on every layout", "[random][permutation]") {
  for (const ht::Shape& shape : {ht::Shape{9, 4}, ht::Shape{5000, 2}}) {
    const auto global = at::arange(ht::size_of(shape)).reshape(shape);
    for (int axis = 0; axis < 2; ++axis) {
      const auto order = rnd::Generator(8).permutation(shape[static_cast<std::size_t>(axis)]).larray();
      for (const auto& layout : every_layout(shape)) {
        auto x = distribute(global, layout);
        CHECK(same(rnd::Generator(8).permutation(x, axis), global.index_select(axis, order)));
        rnd::Generator(8).shuffle(x, axis - 2);
        CHECK(same(x, global.index_select(axis, order)));
        CHECK(x.layout() == layout);
      }
    }
  }
  CHECK_THROWS_AS(rnd::permutation(ht::ones({3}), 1), ht::IndexError);
  const auto one = ht::ones({1}, {.split = 0});
  auto stretched = ht::broadcast_to(one, {3});
  rnd::shuffle(stretched);
  CHECK(same(stretched, at::ones({3})));
}

TEST_CASE("permutation of rows costs one exchange of them", "[random][permutation]") {
  const auto p = ht::world().size();
  const auto x = ht::zeros({1000 * p, 3}, {.split = 0});
  const auto before = ht::comm_report();
  static_cast<void>(rnd::permutation(x));
  const auto after = ht::comm_report();
  CHECK(after.calls - before.calls <= 1);
  CHECK(after.bytes - before.bytes <= 1000 * 3 * 4);
}

TEST_CASE("choice draws with and without replacement and weights", "[random][choice]") {
  for (const std::optional<int> split : {std::optional<int>{}, std::optional(0), std::optional(1)}) {
    rnd::Generator g(2), h(2);
    const auto weights = at::tensor({0.1, 0.0, 0.5, 0.4}, at::kDouble);
    for (const auto& layout : every_layout({4})) {
      const auto p = distribute(weights, layout);
      CHECK(same(g.choice(4, {6, 5}, {.split = split}), h.choice(4, {6, 5}).larray()));
      CHECK(same(g.choice(40, {6, 5}, {.replace = false, .split = split}),
                 h.choice(40, {6, 5}, {.replace = false}).larray()));
      CHECK(same(g.choice(4, {6, 5}, {.p = p, .split = split}), h.choice(4, {6, 5}, {.p = p}).larray()));
      const auto three = g.choice(4, {3, 1}, {.replace = false, .p = p, .split = split});
      CHECK(same(h.choice(4, {3, 1}, {.replace = false, .p = p}), gathered(three)));
      CHECK(equals(std::get<0>(gathered(three).flatten().sort()), at::tensor({0, 2, 3}, at::kLong)));
    }
  }
}

TEST_CASE("choices among many weights do not depend on where these lie", "[random][choice]") {
  const auto weights = at::arange(1, 501, at::kDouble) / (250. * 501);
  const auto whole = distribute(weights, ht::Layout({500}, std::nullopt, ht::world().size()));
  const auto with = rnd::Generator(4).choice(500, {7}, {.p = whole}).larray();
  const auto without = rnd::Generator(4).choice(500, {300}, {.replace = false, .p = whole}).larray();
  for (const auto& layout : every_layout({500}))
    for (const std::optional<int> split : {std::optional<int>{}, std::optional(0)}) {
      const auto p = distribute(weights, layout);
      CHECK(same(rnd::Generator(4).choice(500, {7}, {.p = p, .split = split}), with));
      CHECK(same(rnd::Generator(4).choice(500, {300}, {.replace = false, .p = p, .split = split}), without));
    }
}

TEST_CASE("choice takes rows of arrays on any layout", "[random][choice]") {
  const auto global = at::arange(7 * 3).reshape({7, 3});
  const auto rows = rnd::Generator(6).choice(7, {5, 2}).larray();
  for (const auto& layout : every_layout({7, 3}))
    for (const std::optional<int> split : {std::optional<int>{}, std::optional(0), std::optional(1)}) {
      const auto y = rnd::Generator(6).choice(distribute(global, layout), {5, 2}, {.split = split});
      CHECK(same(y, global.index({rows})));
    }
}

TEST_CASE("choice takes from any axis", "[random][choice]") {
  const auto global = at::arange(15).reshape({3, 5});
  for (const auto& layout : every_layout({3, 5})) {
    ht::random::Generator generator(5);
    const auto x = generator.choice(distribute(global, layout), {5}, {.replace = false, .axis = 1});
    CHECK(same(ht::sort(x, 1), global));
  }
}

TEST_CASE("weights are kept", "[random][choice]") {
  rnd::Generator g(3);
  const auto p = ht::array({0.1, 0.0, 0.5, 0.4}, {.dtype = ht::float64, .split = 0});
  std::vector<double> with(4), first(4);
  for (const auto k : g.choice(4, {20'000}, {.p = p, .split = 0}).to_vector<double>())
    ++with[static_cast<std::size_t>(k)];
  for (int i = 0; i < 4000; ++i)
    ++first[static_cast<std::size_t>(g.choice(4, {2}, {.replace = false, .p = p}).to_vector<double>()[0])];
  for (const auto* counts : {&with, &first}) {
    const double n = counts == &with ? 20'000 : 4000;
    CHECK((*counts)[1] == 0);
    CHECK(std::abs((*counts)[0] - 0.1 * n) < 4 * std::sqrt(0.09 * n));
    CHECK(std::abs((*counts)[2] - 0.5 * n) < 4 * std::sqrt(0.25 * n));
  }
}

TEST_CASE("choices that there are not are errors on all ranks", "[random][choice]") {
  const auto complex = ht::full({2}, 0.5, {.dtype = ht::complex64, .split = 0});
  CHECK_THROWS_AS(rnd::choice(2, {4}, {.p = complex}), ht::TypeError);
  CHECK_THROWS_WITH(rnd::permutation(300, {.dtype = ht::int8}), Catch::Contains("[permutation] got n 300 for int8"));
  CHECK(same(ht::sort(rnd::permutation(128, {.dtype = ht::int8})), at::arange(128, at::kChar)));
  rnd::Generator g;
  CHECK_THROWS_AS(g.choice(3, {4}, {.replace = false}), ht::ValueError);
  CHECK_THROWS_AS(g.choice(0, {1}), ht::ValueError);
  CHECK_THROWS_AS(g.choice(2, {1}, {.p = ht::array({0.5, 0.4}, {.split = 0})}), ht::ValueError);
  CHECK_THROWS_AS(g.choice(2, {1}, {.p = ht::array({1.5, -0.5}, {.split = 0})}), ht::ValueError);
  CHECK_THROWS_AS(g.choice(2, {2}, {.replace = false, .p = ht::array({1.0, 0.0}, {.split = 0})}), ht::ValueError);
  CHECK_THROWS_AS(g.choice(3, {1}, {.p = ht::array({0.5, 0.5})}), ht::ValueError);
  CHECK_THROWS_AS(g.choice(2, {0}, {.p = ht::array({0.5, 0.4}, {.split = 0})}), ht::ValueError);
  CHECK_THROWS_AS(g.choice(2, {1}, {.p = ht::array({0.5, 0.5 + 6e-4}, {.split = 0})}), ht::ValueError);
  const auto rounded = ht::array({0.5, 0.5 + 1.3e-8}, {.dtype = ht::float64, .split = 0});
  CHECK(g.choice(2, {3}, {.p = rounded}).shape() == ht::Shape{3});
  CHECK(g.choice(2, {3}, {.p = ht::array({0, 1}, {.split = 0})}).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{1, 1, 1});
  CHECK(g.choice(0, {0, 2}, {.split = 1}).shape() == ht::Shape{0, 2});
}
