#include "../catch.hpp"

#include <heatpp/comm/allreduce/algorithm.hpp>
#include <heatpp/comm/detail/reproducible/exact_sum.hpp>
#include <heatpp/comm/detail/reproducible/marked_sum.hpp>
#include <heatpp/comm/topology.hpp>

#include "../exact_oracle.hpp"
#include "machines.hpp"

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>

namespace ht = heatpp;

namespace {

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](T x, T y) { return ::same_bits(x, y); });
}

/// Returns a rank's contribution, in the order of the world's ranks.
template <class T>
std::vector<T> contribution(int kind, std::size_t count, int rank) {
  auto data = hostile<T>(kind, count, static_cast<unsigned>(rank) + 1);
  if (kind == 7 && count > 9) {  // infinite and NaN elements
    if (rank == 0) data[3] = data[5] = std::numeric_limits<T>::infinity();
    if (rank == 1) data[5] = -std::numeric_limits<T>::infinity();
    if (rank == ht::world().size() - 1) data[7] = data[3 + 2 * (count % 2)] = std::numeric_limits<T>::quiet_NaN();
  }
  return data;
}

template <class T>
std::vector<T> exact_sum(int kind, std::size_t count) {
  std::vector<ExactOracle> sums(count);
  // Numbers near the largest, whose partial sums overflow, are summed as fractions.
  const int scale = kind == 5 && sizeof(T) == sizeof(double) ? 100 : 0;
  for (int rank = 0; rank < ht::world().size(); ++rank) {
    const auto data = contribution<T>(kind, count, rank);
    for (std::size_t i = 0; i < count; ++i) sums[i].add(std::ldexp(static_cast<double>(data[i]), -scale));
  }
  std::vector<T> result(count);
  std::ranges::transform(sums, result.begin(),
                         [=](const ExactOracle& sum) { return std::ldexp(sum.rounded<T>(), scale); });
  return result;
}

}  // namespace

TEST_CASE("an exact sum is that of any order and grouping, rounded once", "[comm][reproducible]") {
  for (int kind = 0; kind < hostile_kinds; ++kind) {
    if (kind == 5) continue;  // the oracle overflows
    auto data = hostile<double>(kind, 3000, 17);
    const auto expected = exact_sum_of<double>(data);
    for (unsigned seed = 1; seed < 4; ++seed) {
      std::shuffle(data.begin(), data.end(), std::mt19937(seed));
      ht::detail::ExactSum parts[3];
      for (std::size_t i = 0; i < data.size(); ++i) parts[(i * seed / 7) % 3].add(data[i]);
      parts[0] += parts[1];
      parts[2] += parts[0];
      CHECK(::same_bits(parts[2].value(), expected));
      parts[2].carry();
      const int low = parts[2].low() - 1, high = parts[2].high() + 1;
      for (const int bits : {20, 37, 60}) {
        std::vector<std::int64_t> words(static_cast<std::size_t>((32 * (high - low) + bits - 1) / bits));
        parts[2].pack(low, bits, words);
        ht::detail::ExactSum again;
        for (std::size_t i = 0; i < words.size(); ++i) again.add_at(words[i], 32 * low + static_cast<int>(i) * bits);
        CHECK(::same_bits(again.value(), expected));
      }
    }
  }
}

TEST_CASE("ranks that add two sums in other orders mark the same ones", "[comm][reproducible]") {
  using namespace ht::detail;
  using Wide = std::vector<std::complex<double>>;
  const auto sum_of = [](const Wide& a, const Wide& b) {
    const void* const both[] = {a.data(), b.data()};
    Wide sum(a.size());
    combine_exactly(marked_sum, ht::Dtype::complex128, both, sum.data(), std::ssize(a));
    return sum;
  };
  for (int kind = 0; kind < hostile_kinds; ++kind) {
    std::vector<Wide> of_ranks;
    for (const double first :
         {0x1.fffffffffffffp1022, -0x1.7ffffffffffffp1023, 0x1.fffffffffffffp1021, 0x1.7ffffffffffffp1023}) {
      auto data = hostile<double>(kind, 3000, static_cast<unsigned>(of_ranks.size()) + 1);
      data[0] = first;
      widen_exactly({data.data(), std::ssize(data), ht::Dtype::float64}, of_ranks.emplace_back(data.size()).data());
    }
    const auto left = sum_of(of_ranks[0], of_ranks[1]), right = sum_of(of_ranks[2], of_ranks[3]);
    const auto there = sum_of(left, right), back = sum_of(right, left);
    CHECK(std::memcmp(there.data(), back.data(), there.size() * sizeof(there[0])) == 0);
  }
}

TEST_CASE("sums and products at the ends of float64 are exact", "[comm][reproducible]") {
  constexpr double largest = std::numeric_limits<double>::max(), smallest = std::numeric_limits<double>::denorm_min();
  const auto sum = [](std::initializer_list<double> values) {
    ht::detail::ExactSum all;
    for (const double x : values) all.add(x);
    return all.value();
  };
  CHECK(sum({largest, largest, -largest}) == largest);
  CHECK(std::isinf(sum({largest, largest})));
  CHECK(sum({largest, smallest, -largest}) == smallest);
  CHECK(sum({1e30, 1, -1e30}) == 1);
  CHECK_FALSE(std::signbit(sum({-0.0, -0.0})));
  CHECK(sum({1, 0x1p-53}) == 1);                                   // a tie, to even
  CHECK(sum({1, 0x1p-53, smallest}) == std::nextafter(1.0, 2.0));  // no tie
  CHECK(sum({-1, -0x1p-53, smallest}) == -1);
  CHECK(std::isnan(sum({INFINITY, 1, -INFINITY})));
  CHECK(sum({-INFINITY, largest, largest}) == -INFINITY);

  ht::detail::ExactSum products;
  products.add_product(largest, largest);
  CHECK(std::isinf(products.value()));
  products.add_product(largest, -largest);
  products.add_product(smallest, 1);
  products.add_product(smallest, -smallest);
  CHECK(products.value() == smallest);
  products.add_product(smallest, -1);
  CHECK(products.value() == 0);
}

TEMPLATE_TEST_CASE("a reproducible sum is exact, on every topology and by every algorithm", "[comm][reproducible]",
                   float, double) {
  const auto& world = ht::world();
  for (int kind = 0; kind < hostile_kinds; ++kind)
    for (const std::size_t count : {1, 10, 1501, 70'000}) {
      // With many ranks on few cores, only some cases run, because they take long.
      if (world.size() > 4 ? count > 10 || kind % 4 != 1 : count > 10'000 && kind != 1) continue;
      const auto expected = exact_sum<TestType>(kind, count);
      const auto mine = contribution<TestType>(kind, count, world.rank());
      for (const auto& machine : machines(world.size())) {
        const ht::Topology topology(world, machine);
        std::vector<ht::AllreduceOptions> all{{.reproducible = true}, {.chunk_bytes = 4096, .reproducible = true}};
        for (const auto& algorithm : ht::comm::algorithms())
          if (!algorithm.fits || algorithm.fits(topology))
            all.push_back({.algorithm = algorithm.name, .message_bytes = 1000, .reproducible = true});
        for (const auto& options : all) {
          auto data = mine;
          topology.allreduce(data, options);
          if (world.size() > 1) CHECK(same_bits(data, expected));
        }
      }
    }
}

TEST_CASE("a reproducible sum does not depend on the order of the ranks", "[comm][reproducible]") {
  const auto& world = ht::world();
  const auto backwards = *world.split(0, -world.rank());
  auto data = contribution<float>(1, 5000, world.rank());
  auto same = data;
  ht::Topology(world, {.shape = {world.size(), 1}}).allreduce(data, {.reproducible = true});
  ht::Topology(backwards, {.shape = {1, world.size()}}).allreduce(same, {.reproducible = true});
  CHECK(same_bits(data, same));
}

TEST_CASE("many reproducible sums may be under way", "[comm][reproducible]") {
  const auto& world = ht::world();
  const ht::Topology topology(world, {.node_of = [](int rank) { return rank / 2; }});
  std::vector<std::vector<double>> arrays;
  std::vector<ht::Request> requests;
  for (int kind = 0; kind < hostile_kinds; ++kind) arrays.push_back(contribution<double>(kind, 2000, world.rank()));
  for (auto& data : arrays) requests.push_back(topology.iallreduce(data, {.reproducible = true}));
  if (world.rank() % 2 == 1) std::ranges::reverse(requests);  // waited for in another order
  for (auto& request : requests) request.wait();
  for (int kind = 0; kind < hostile_kinds && world.size() > 1; ++kind)
    CHECK(same_bits(arrays[static_cast<std::size_t>(kind)], exact_sum<double>(kind, 2000)));

  std::vector<float> few = contribution<float>(1, 30, world.rank()),
                     many = contribution<float>(2, 50'000, world.rank());
  const std::vector<ht::Buffer> list{few, many};
  auto both = topology.iallreduce(list, {.op = ht::ReduceOp::mean, .reproducible = true});
  both.wait();
  auto expected = exact_sum<float>(1, 30);
  for (auto& x : expected) x /= static_cast<float>(world.size());
  if (world.size() > 1) CHECK(same_bits(few, expected));
  std::vector<float> residual(30);
  CHECK_THROWS_AS(topology.iallreduce(list, {.residual = residual}), ht::ValueError);
}

TEST_CASE("complex numbers and 16-bit floats are summed exactly, too", "[comm][reproducible]") {
  const auto& world = ht::world();
  const auto p = static_cast<float>(world.size());
  for (const auto& machine : machines(world.size())) {
    const ht::Topology topology(world, machine);
    const auto parts = contribution<double>(1, 100, world.rank()), sum = exact_sum<double>(1, 100);
    std::vector<std::complex<double>> numbers(50);
    for (std::size_t i = 0; i < 50; ++i) numbers[i] = {parts[2 * i], parts[2 * i + 1]};
    topology.allreduce(numbers, {.reproducible = true});
    for (std::size_t i = 0; i < 50 && world.size() > 1; ++i)
      CHECK((numbers[i].real() == sum[2 * i] && numbers[i].imag() == sum[2 * i + 1]));

    // 256 + 1 + 1 is 258 in bfloat16, and neither intermediate sum is.
    std::vector<std::uint16_t> wide(20, world.rank() == 0 ? 0x4380 : 0x3f80);
    topology.allreduce({wide.data(), 20, ht::bfloat16}, {.reproducible = true});
    const float exact = 255 + p;
    const auto bits = std::bit_cast<std::uint32_t>(exact);
    const auto nearest = static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    CHECK(std::ranges::all_of(wide, [=](auto x) { return x == nearest; }));
    // The largest float16, its negative and the smallest one.
    std::vector<std::uint16_t> narrow(20, world.rank() == 0 ? 0x7bff : world.rank() == world.size() - 1 ? 0xfbff : 1);
    topology.allreduce({narrow.data(), 20, ht::float16}, {.reproducible = true});
    if (world.size() > 1)
      CHECK(std::ranges::all_of(narrow, [&](auto x) { return x == static_cast<std::uint16_t>(world.size() - 2); }));
  }
}

TEST_CASE("HEATPP_REPRODUCIBLE makes sums over ranks exact", "[.reproducible_by_environment]") {
  const auto& world = ht::world();
  const auto part = *world.split(0, -world.rank());
  for (int kind = 0; kind < hostile_kinds; ++kind) {
    const auto expected = exact_sum<float>(kind, 3000);
    for (const auto& comm : {world, part}) {
      auto data = contribution<float>(kind, 3000, world.rank()), later = data;
      comm.allreduce(data);
      comm.iallreduce(later).wait();
      CHECK(same_bits(data, expected));
      CHECK(same_bits(later, expected));
      auto levels = contribution<float>(kind, 3000, world.rank());
      ht::Topology(comm).allreduce(levels);
      CHECK(same_bits(levels, expected));
    }
  }
}
