#include "../../support.hpp"

#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/operands/operand.hpp>

#include <ATen/Context.h>
#include <atomic>
#include <thread>

namespace {

const auto all = ht::all_of;

/// Returns pseudo-random numbers below n, equal on every rank.
at::Tensor places(std::int64_t count, std::int64_t n, std::int64_t seed) {
  return (at::arange(count, at::kLong) * 7919 + seed).square().remainder(1009).remainder(n);
}

}  // namespace

TEST_CASE("the last of repeated places counts along every axis", "[ops][positions]") {
  constexpr std::int64_t count = 60;
  for (const auto type : {at::kByte, at::kHalf, at::kInt, at::kDouble, at::kComplexDouble}) {
    const auto global = at::arange(4 * 3 * 5).reshape({4, 3, 5}).to(type);
    const auto i = places(count, 4, 1), j = places(count, 3, 2), k = places(count, 5, 3);
    const auto of_rows = at::arange(count * 15).reshape({count, 3, 5}).remainder(251).to(type);
    const auto of_last = at::arange(count * 12).reshape({4, 3, count}).remainder(241).to(type);
    const auto single = at::arange(count).to(type);
    auto by_rows = global.clone(), by_last = global.clone(), by_all = global.clone();
    for (std::int64_t n = 0; n < count; ++n) {
      by_rows[i[n].item<std::int64_t>()] = of_rows[n];
      by_last.select(2, k[n].item<std::int64_t>()).copy_(of_last.select(2, n));
      by_all[i[n].item<std::int64_t>()][j[n].item<std::int64_t>()][k[n].item<std::int64_t>()] = single[n];
    }
    for (const auto& layout : every_layout({4, 3, 5}))
      for (const auto& cut : every_layout({count})) {
        const auto put = [&](const std::vector<ht::Index>& index, const at::Tensor& values) {
          auto x = distribute(global, layout);
          x.index_put(index, ht::from_tensor(values));
          return x;
        };
        const auto a = distribute(i, cut), b = distribute(j, cut), c = distribute(k, cut);
        CHECK(same(put({a}, of_rows), by_rows));
        CHECK(same(put({all, all, c}, of_last), by_last));
        CHECK(same(put({a, b, c}, single), by_all));
      }
  }
}

TEST_CASE("a write to positions does not change LibTorch's settings", "[ops][positions]") {
  constexpr std::int64_t n = 3'000'000;
  std::atomic<bool> done = false, changed = false;
  std::thread watcher([&] {
    while (!done)
      if (at::globalContext().deterministicAlgorithms()) changed = true;
  });
  const auto positions = ht::from_tensor(places(n, 1009, 0)), values = ht::from_tensor(at::arange(n).sin());
  for (int i = 0; i < 5; ++i) {
    auto x = ht::from_tensor(at::zeros({1009}));
    x.index_put({positions}, values);
    auto cut = ht::resplit(x, 0);
    cut.index_put({positions}, values);
    CHECK(same(cut, gathered(x)));
  }
  done = true;
  watcher.join();
  CHECK_FALSE(changed);
}

TEST_CASE("selected rows take the memory that they need", "[ops][index]") {
  for (const auto& layout : every_layout({6, 1000})) {
    const auto x = distribute(at::arange(6000).sin().reshape({6, 1000}), layout);
    const auto mask = distribute(at::tensor({1, 0, 0, 1, 0, 1}).to(at::kBool), layout.replicated({6}));
    const auto rows = x.index({mask});
    CHECK(same(rows, gathered(x).index_select(0, at::tensor({0, 3, 5}))));
    const auto used = static_cast<std::size_t>(rows.larray().numel()) * sizeof(float);
    CHECK(rows.larray().storage().nbytes() <= used + 16);  // rows as long as elements need room for one more
  }
}
