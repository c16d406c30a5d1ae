#include "../support.hpp"

#include <heatpp/random/detail/philox.hpp>
#include <heatpp/random/random.hpp>

#include <bit>
#include <functional>

namespace rnd = ht::random;

namespace {

/// Returns FNV-1a over the bytes of the gathered array: the constants below hold for any number of ranks.
std::uint64_t hash(const ht::DNDarray& x) {
  const auto all = gathered(x).contiguous();
  const auto* bytes = static_cast<const unsigned char*>(all.const_data_ptr());
  std::uint64_t value = 14695981039346656037u;
  for (std::size_t i = 0; i < all.nbytes(); ++i) value = (value ^ bytes[i]) * 1099511628211u;
  return value;
}

}  // namespace

TEST_CASE("default_rng makes a generator of a seed", "[random]") {
  CHECK(same(rnd::default_rng(7).random({5}), rnd::Generator(7).random({5}).larray()));
}

TEST_CASE("Philox gives the known answers of Random123", "[random]") {
  using rnd::detail::Key;
  using rnd::detail::philox;
  using rnd::detail::Words;
  CHECK(philox({0, 0, 0, 0}, Key(0)) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0u, ~0u, ~0u, ~0u}, Key(~0ull)) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, Key(0x299f31d0a4093822)) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("elements do not depend on ranks and splits", "[random]") {
  const ht::Shape shape{7, 5, 23};
  const std::vector<std::function<ht::DNDarray(rnd::Generator&, const ht::ArrayOptions&)>> functions = {
      [&](auto& g, const auto& o) { return g.random(shape, o); },
      [&](auto& g, const auto& o) { return g.standard_normal(shape, o); },
      [&](auto& g, const auto& o) { return g.normal(2, 3, shape, o); },
      [&](auto& g, const auto& o) { return g.uniform(-1, 3, shape, o); },
      [&](auto& g, const auto& o) { return g.gamma(0.7, 2, shape, o); },
      [&](auto& g, const auto& o) { return g.standard_exponential(shape, o); },
  };
  for (const auto dtype : {ht::float32, ht::float64, ht::float16})
    for (const auto& function : functions) {
      rnd::Generator g(5), h(5);
      const auto expected = function(g, {.dtype = dtype}).larray();
      for (int axis = 0; axis < 3; ++axis) {
        h.set_state({.key = 5});
        CHECK(same(function(h, {.dtype = dtype, .split = axis}), expected));
        CHECK(h.get_state() == g.get_state());
      }
    }
}

TEST_CASE("uniform, normal and whole numbers are fixed to the last bit", "[random]") {
  const auto check = [](std::optional<int> split) {
    rnd::Generator g(1234);
    CHECK(hash(g.random({301, 7}, {.split = split})) == 0x5cd949a85c185433u);
    CHECK(hash(g.random({301, 7}, {.dtype = ht::float64, .split = split})) == 0xc8e7f8d687e8b7afu);
    CHECK(hash(g.standard_normal({301, 7}, {.split = split})) == 0xd3f49ae117310e5cu);
    CHECK(hash(g.standard_normal({301, 7}, {.dtype = ht::float64, .split = split})) == 0xa1eeb88d25ef5d62u);
    CHECK(hash(g.integers(-5, 100, {301, 7}, {.split = split})) == 0x4c23194b3a5143b9u);
    CHECK(hash(g.integers(0, std::int64_t{3} << 30, {301, 7}, {.split = split})) == 0x487bfe640d0dacadu);
  };
  CHECK(rnd::Generator(0).random({1}).item<double>() == 0x6627e8p-24);  // the first known answer
  check(std::nullopt);
  check(0);
  check(1);
}

TEST_CASE("functions draw from the default generator", "[random]") {
  rnd::seed(9);
  const auto state = rnd::get_state();
  const auto first = rnd::rand({10}, {.split = 0});
  const auto second = rnd::ranf({10});
  rnd::set_state(state);
  CHECK(same(rnd::random_sample({10}), gathered(first)));
  CHECK(same(rnd::sample({10}, {.split = 0}), gathered(second)));
  CHECK(!same(first, gathered(second)));
  CHECK(same(rnd::Generator(9).random({10}), gathered(first)));
  CHECK(rnd::rand().shape().empty());
  CHECK(rnd::randn({3, 0}, {.split = 1}).shape() == ht::Shape{3, 0});
  rnd::seed();
  CHECK(ht::world().allgather(static_cast<std::int64_t>(rnd::get_state().key)) ==
        std::vector(static_cast<std::size_t>(ht::world().size()), static_cast<std::int64_t>(rnd::get_state().key)));
}

TEST_CASE("what groups of ranks draw by themselves leaves the others' numbers as they are", "[random]") {
  const auto& world = ht::world();
  rnd::seed(3);
  rnd::Generator alone(3);
  CHECK(same(rnd::random({6}, {.split = 0}), alone.random({6}).larray()));
  if (world.size() == 1) return;  // There is no other group.

  const auto half = *world.split(world.rank() % 2);
  std::vector<at::Tensor> own;
  for (int draw = 0; draw <= world.rank() % 2; ++draw)
    own.push_back(gathered(rnd::standard_normal({9}, {.split = 0, .comm = half})));
  for (int draw = 0; draw < world.rank() % 3; ++draw) (void)rnd::gamma(2.0, 1.0, {5}, {.comm = ht::self()});
  CHECK(same(rnd::random({6}, {.split = 0}), alone.random({6}).larray()));
  const auto order = gathered(rnd::permutation(5000, {.split = 0}));
  CHECK(equals(std::get<0>(order.sort()), at::arange(5000)));
  CHECK(equals(order, alone.permutation(5000).larray()));

  const auto firsts = world.allgather(std::bit_cast<std::int32_t>(own[0][0].item<float>()));
  for (std::size_t r = 0; r < firsts.size(); ++r) CHECK(firsts[r] == firsts[r % 2]);
  CHECK(firsts[0] != firsts[1]);

  rnd::seed(3);
  CHECK(equals(rnd::standard_normal({9}, {.split = 0, .comm = half}), own[0]));
  const auto state = rnd::get_state();
  const auto next = rnd::choice(100, {7}, {.split = 0, .comm = half});
  rnd::set_state(state);
  CHECK(same(rnd::choice(100, {7}, {.split = 0, .comm = half}), gathered(next)));
}

TEST_CASE("ranks that are the default communicator draw what a program of their own would", "[random]") {
  rnd::seed(4);
  ht::use_comm(ht::self());
  const auto drawn = rnd::random({5});
  ht::use_comm(ht::world());
  CHECK(equals(drawn.larray(), rnd::Generator(4).random({5}).larray()));
}

TEST_CASE("streams differ", "[random]") {
  rnd::Generator g(3);
  auto children = g.spawn(2);
  auto later = g.spawn(1);
  auto far = g.jumped();
  std::vector<std::vector<double>> all;
  for (auto* generator : {&g, &children[0], &children[1], &later[0], &far})
    all.push_back(generator->random({4}).to_vector<double>());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(all[i] != all[j]);
  CHECK(rnd::Generator(3).spawn(1)[0].random({4}).to_vector<double>() == all[1]);
}

TEST_CASE("drawing communicates nothing", "[random]") {
  rnd::Generator g;
  const auto before = ht::comm_report().calls;
  CHECK(g.normal(0, 1, {100, 3}, {.split = 1}).split() == 1);
  CHECK(g.poisson(3, {100}, {.split = 0}).dtype() == ht::int64);
  CHECK(g.integers(10, std::nullopt, {100}, {.dtype = ht::int32, .split = 0}).dtype() == ht::int32);
  CHECK(ht::comm_report().calls == before);
}

TEST_CASE("one number before braces is where whole numbers end", "[random]") {
  ht::random::seed(4);
  const auto expected = ht::random::integers(0, 100, {5, 2}).to_vector<std::int64_t>();
  ht::random::seed(4);
  CHECK(ht::random::randint(100, {5, 2}).to_vector<std::int64_t>() == expected);
  ht::random::seed(4);
  CHECK(ht::random::integers(100, {5, 2}, {.split = 0}).to_vector<std::int64_t>() == expected);
  ht::random::seed(4);
  CHECK(ht::random::random_integer(100, {5, 2}).to_vector<std::int64_t>() == expected);
  CHECK(ht::random::Generator(4).integers(100, {5, 2}).to_vector<std::int64_t>() == expected);
}

TEST_CASE("parameters may be arrays of any layout", "[random]") {
  const auto mean = at::arange(20, at::kDouble).reshape({4, 5}), scale = at::linspace(0.5, 2, 5, at::kDouble);
  for (const auto& a : every_layout({4, 5}))
    for (const auto& b : every_layout({5})) {
      rnd::Generator g(1), h(1);
      const auto z = g.standard_normal({4, 5}, {.dtype = ht::float64}).larray();
      const auto x = h.normal(distribute(mean, a), distribute(scale, b), {}, {.dtype = ht::float64});
      CHECK(close(x, z * scale + mean));
      CHECK(x.layout() == a);
      const auto u = g.random({3, 4, 5}, {.dtype = ht::float64}).larray();
      CHECK(close(h.uniform(distribute(mean, a), 20, {3, 4, 5}, {.dtype = ht::float64, .split = 1}),
                  mean + (20 - mean) * u, 1e-6));
    }
  rnd::Generator g(1), h(1);
  const auto expected = g.poisson(ht::array({1.0, 5.0, 200.0})).to_vector<double>();
  CHECK(h.poisson(ht::array({1.0, 5.0, 200.0}, {.split = 0})).to_vector<double>() == expected);
}

TEST_CASE("bad parameters are errors on all ranks and leave the generator as it was", "[random]") {
  rnd::Generator g;
  const auto bad = ht::array({1.0, 2.0, -1.0}, {.split = 0});
  CHECK_THROWS_WITH(g.normal(0, -1), Catch::Contains("[normal] got parameters (0, -1); expected scale >= 0"));
  CHECK_THROWS_WITH(g.exponential(bad), Catch::Contains("got parameters (-1,)"));
  CHECK_THROWS_AS(g.integers(3, 3), ht::ValueError);
  CHECK_THROWS_AS(g.integers(0, 300, {2}, {.dtype = ht::uint8}), ht::ValueError);
  CHECK_THROWS_AS(g.random({3}, {.dtype = ht::int32}), ht::TypeError);
  CHECK_THROWS_AS(g.exponential(ht::ones({3}), {4}), ht::ValueError);
  CHECK_THROWS_AS(g.random({-1}), ht::ValueError);
  CHECK_THROWS_AS(g.binomial(5, 1.5), ht::ValueError);
  CHECK_THROWS_AS(g.triangular(2, 1, 3), ht::ValueError);
  CHECK_THROWS_AS(g.hypergeometric(2.5, 2.5, 5), ht::ValueError);
  CHECK_THROWS_AS(g.normal(0, -0.0), ht::ValueError);
  CHECK_THROWS_AS(g.exponential(ht::array({1.0, -0.0}, {.split = 0})), ht::ValueError);
  CHECK_THROWS_AS(g.weibull(-0.0), ht::ValueError);
  for (const auto limit : std::vector<double>{NAN, -INFINITY, 1e300}) {
    CHECK_THROWS_AS(g.integers(ht::array({1.0, limit}, {.split = 0}), 5), ht::ValueError);
    CHECK_THROWS_AS(g.integers(-5, ht::array({limit, 1.0}, {.split = 0})), ht::ValueError);
  }
  CHECK(g.integers(3, 3, {2, 0}, {.dtype = ht::uint8, .split = 0}).dtype() == ht::uint8);
  CHECK(g.get_state() == rnd::State{});
}

TEST_CASE("uniform numbers stay below their end in every dtype", "[random]") {
  const std::pair<double, double> ranges[] = {{0, 1}, {1000, 1001}, {-1, 1}, {-30000, 30000}};
  for (const auto dtype : {ht::float16, ht::bfloat16, ht::float32, ht::float64})
    for (const auto& [low, high] : ranges) {
      const ht::ArrayOptions options{.dtype = dtype, .split = 0};
      const auto number = gathered(rnd::Generator(3).uniform(low, high, {200000}, options));
      const auto array =
          gathered(rnd::Generator(3).uniform(ht::full({200000}, low, {.dtype = ht::float64}), high, {}, options));
      for (const auto& x : {number, array}) {
        CHECK(x.min().item<double>() >= low);
        CHECK(x.max().item<double>() < high);
      }
    }
  CHECK(all_finite(gathered(rnd::Generator(3).uniform(-1e38, 2e38, {1000}))));
  CHECK_THROWS_AS(rnd::uniform(-3e38, 3e38, {4}), ht::ValueError);
  CHECK_THROWS_AS(rnd::uniform(0, 1e39, {4}), ht::ValueError);
  CHECK_THROWS_AS(rnd::uniform(0, 70000, {4}, {.dtype = ht::float16}), ht::ValueError);
}

TEST_CASE("integers may include their end", "[random][generator]") {
  ht::random::Generator generator(5);
  const auto dice = gathered(generator.integers({.low = 1, .high = 6, .endpoint = true}, {2000}, {.split = 0}));
  CHECK(dice.min().item<std::int64_t>() == 1);
  CHECK(dice.max().item<std::int64_t>() == 6);
  CHECK(same(generator.integers({.low = 3, .high = 3, .endpoint = true}, {4}), at::full({4}, 3, at::kLong)));
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  const auto any = gathered(generator.integers({.low = least, .high = most, .endpoint = true}, {64}, {.split = 0}));
  CHECK(any.min().item<std::int64_t>() < 0);
  CHECK(any.max().item<std::int64_t>() > 0);
  CHECK_THROWS_AS(generator.integers({.low = 3, .high = 3}), ht::ValueError);
  CHECK_THROWS_AS(generator.integers(3, std::nullopt, {4}, {.dtype = ht::float64}), ht::TypeError);
  CHECK_THROWS_AS(generator.integers(3, std::nullopt, {4}, {.dtype = ht::bool_}), ht::ValueError);
  CHECK(generator.integers(2, std::nullopt, {4}, {.dtype = ht::bool_}).dtype() == ht::bool_);
  const auto bytes = gathered(generator.bytes(4000, {.split = 0}));
  CHECK(bytes.scalar_type() == at::kByte);
  CHECK(std::abs(bytes.to(at::kDouble).mean().item<double>() - 127.5) < 5 * 73.9 / std::sqrt(4000.0));
}

TEST_CASE("integers have a range of their own for each element", "[random][generator]") {
  const auto low = at::arange(6).reshape({2, 3}), high = low + at::tensor({1, 5, 1000000007}, at::kLong);
  at::Tensor first;
  for (const auto& layout : every_layout({2, 3})) {
    ht::random::Generator generator(3);
    const auto x = generator.integers(distribute(low, layout), distribute(high, layout), {500, 2, 3});
    const auto all = gathered(x);
    CHECK(for_all(all, at::logical_and(all >= low, all < high)));
    CHECK(all.select(2, 1).amax().item<std::int64_t>() == 8);
    if (first.defined()) CHECK(equals(all, first));
    first = all;
    CHECK_THROWS_AS(generator.integers(distribute(low, layout), 5), ht::ValueError);
  }
}

TEST_CASE("permuted gives each line an order of its own", "[random][generator]") {
  const auto global = at::arange(200).reshape({20, 10});
  for (const auto& layout : every_layout({20, 10})) {
    const auto mixed = gathered(ht::random::Generator(3).permuted(distribute(global, layout), 1));
    CHECK(equals(std::get<0>(mixed.sort(1)), global));
    CHECK_FALSE(at::equal(mixed[0], mixed[1] - 10));
    const auto all = gathered(ht::random::Generator(3).permuted(distribute(global, layout)));
    CHECK(equals(std::get<0>(all.flatten().sort()), at::arange(200)));
  }
}

TEST_CASE("draws of several colors add up and have their means", "[random][generator]") {
  ht::random::Generator generator(8);
  const auto drawn = gathered(generator.multivariate_hypergeometric({12, 5, 0, 3}, 8, {4000}, {.split = 0}));
  CHECK(equals(drawn.sum(1), at::full({4000}, 8, at::kLong)));
  CHECK(drawn.select(1, 2).abs().sum().item<std::int64_t>() == 0);
  CHECK(drawn.select(1, 3).max().item<std::int64_t>() == 3);
  const auto means = drawn.to(at::kDouble).mean(0);
  CHECK(std::abs(means[0].item<double>() - 4.8) < 0.1);
  CHECK(std::abs(means[1].item<double>() - 2.0) < 0.1);
  CHECK_THROWS_AS(generator.multivariate_hypergeometric({2, 3}, 6), ht::ValueError);
}
