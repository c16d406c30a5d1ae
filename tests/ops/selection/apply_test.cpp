#include "../../support.hpp"

#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/selection/apply.hpp>
#include <heatpp/ops/sorting/sort.hpp>

TEST_CASE("a function of lines is applied along any axis", "[ops][apply]") {
  const auto global = (at::arange(60, at::kDouble) * 0.618).frac().reshape({5, 4, 3});
  for (const auto& layout : every_layout({5, 4, 3})) {
    const auto x = distribute(global, layout);
    for (const int axis : {0, 1, -1}) {
      const auto sorted = ht::apply_along_axis([](const auto& line) { return ht::sort(line); }, axis, x);
      const auto sums = ht::apply_along_axis([](const auto& line) { return ht::sum(line); }, axis, x);
      CHECK(same(sorted, std::get<0>(global.sort(axis))));
      CHECK(close(sums, global.sum(axis)));
    }
    const auto matrices = ht::apply_along_axis([](const auto& line) { return ht::diag(line); }, 1, x);
    CHECK(same(matrices, at::diag_embed(global.movedim(1, -1)).movedim(1, 3)));
  }
}

TEST_CASE("a function of axes is applied over several", "[ops][apply]") {
  const auto global = at::arange(24).reshape({2, 3, 4});
  for (const auto& layout : every_layout({2, 3, 4})) {
    const auto x = distribute(global, layout);
    CHECK(same(ht::apply_over_axes([](const auto& y, int axis) { return ht::sum(y, axis); }, x, {0, -1}),
               global.sum(at::IntArrayRef({0, 2}), true)));
  }
}

TEST_CASE("if a function of lines throws on one rank, all ranks throw", "[ops][apply]") {
  const auto x = ht::arange(8, {.split = 0});
  const auto lines = ht::from_local(x.larray().unsqueeze(1), {.split = 0});
  const auto refuse = [](const ht::DNDarray& line) -> ht::DNDarray {
    if (ht::max(line).item<std::int64_t>() == 7) throw ht::ValueError("refused");
    return line;
  };
  CHECK_THROWS_AS(ht::apply_along_axis(refuse, 1, lines), ht::Error);
  CHECK_THROWS_AS(ht::apply_along_axis(refuse, 0, ht::ones({3, 0}, {.split = 0})), ht::ValueError);
}
