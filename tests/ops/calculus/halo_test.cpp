#include "../../support.hpp"

#include <heatpp/ops/calculus/halo.hpp>
#include <limits>

using ht::Boundary;

namespace {

/// Returns rows first - width .. last + behind of `global` along `axis`, by the rule of the boundary.
at::Tensor expected_rows(const at::Tensor& global, int axis, std::int64_t first, std::int64_t last,
                         const ht::HaloOptions& options) {
  const auto n = global.size(axis);
  std::vector<at::Tensor> rows;
  for (auto i = first - options.width; i < last + options.behind.value_or(options.width); ++i) {
    auto source = i;
    if (i < 0 || i >= n) {
      if (options.boundary == Boundary::none) continue;
      if (options.boundary == Boundary::periodic) source = (i + n) % n;
      if (options.boundary == Boundary::edge) source = std::clamp<std::int64_t>(i, 0, n - 1);
      if (options.boundary == Boundary::reflect) source = i < 0 ? -i : 2 * (n - 1) - i;
    }
    const bool outside = options.boundary == Boundary::constant && source != std::clamp<std::int64_t>(source, 0, n - 1);
    rows.push_back(outside ? at::full_like(global.select(axis, 0), options.value.to<double>())
                           : global.select(axis, source));
  }
  return at::stack(rows, axis);
}

}  // namespace

TEST_CASE("halos come from whichever ranks hold them", "[ops][halo][host]") {
  const auto global = at::arange(7 * 5, at::kDouble).reshape({7, 5});
  for (const auto& layout : every_layout({7, 5})) {
    const auto x = distribute(global, layout);
    for (const auto boundary :
         {Boundary::none, Boundary::constant, Boundary::periodic, Boundary::edge, Boundary::reflect})
      for (const std::int64_t width : {0, 1, 3, 4, 9}) {
        if (width > 4 && boundary != Boundary::constant && boundary != Boundary::edge) continue;
        const ht::HaloOptions options{.width = width, .behind = width / 2 + 1, .boundary = boundary, .value = -1.5};
        const auto axis = layout.split().value_or(0);
        const auto first = layout.split() ? layout.offset(ht::world().rank()) : 0;
        const auto last = layout.split() ? layout.offset(ht::world().rank() + 1) : 7;

        const auto halo = ht::halo(x, options);

        if (first == last) CHECK(halo.with_block().numel() == 0);
        else CHECK(equals(halo.with_block(), expected_rows(global, axis, first, last, options)));
        if (first < last && boundary != Boundary::none) {
          CHECK(halo.before().size(axis) == width);
          CHECK(halo.behind().size(axis) == width / 2 + 1);
        }
      }
    const auto whole = ht::array_with_halos(x, {.width = 2, .axis = 1, .boundary = Boundary::periodic});
    if (layout.split() != 1)
      CHECK(equals(whole, at::cat({x.larray().narrow(1, 3, 2), x.larray(), x.larray().narrow(1, 0, 2)}, 1)));
  }
}

TEST_CASE("the inside of a stencil is computed while the halo travels", "[ops][halo][host]") {
  const auto global = at::linspace(0, 5, 40, at::kDouble).sin();
  const auto second_difference = [](const at::Tensor& u) {
    const auto n = u.size(0);
    return u.narrow(0, 0, n - 2) - 2 * u.narrow(0, 1, n - 2) + u.narrow(0, 2, n - 2);
  };
  const auto x = distribute(global, ht::Layout({40}, 0, ht::world().size()));

  const auto halo = ht::halo(x, {.width = 1, .boundary = Boundary::periodic});
  const auto& block = x.larray();
  const auto n = block.size(0);
  const auto inside = second_difference(block);
  const auto left = second_difference(at::cat({halo.before(), block.narrow(0, 0, 2)}));
  const auto right = second_difference(at::cat({block.narrow(0, n - 2, 2), halo.behind()}));

  const auto padded = at::cat({global.narrow(0, 39, 1), global, global.narrow(0, 0, 1)});
  CHECK(same(ht::from_local(at::cat({left, inside, right}), {.split = 0}), second_difference(padded)));
}

TEST_CASE("halos cost one message between ranks that need rows of each other", "[ops][halo]") {
  const auto p = ht::world().size(), me = ht::world().rank();
  const auto x = ht::ones({10 * p, 3}, {.split = 0});
  const auto before = ht::comm_report();
  static_cast<void>(ht::array_with_halos(x, {.width = 2}));
  const auto after = ht::comm_report();
  const auto neighbors = (me > 0) + (me + 1 < p);
  CHECK(after.calls - before.calls == neighbors);
  CHECK(after.bytes - before.bytes == neighbors * 2 * 3 * 4);
}

TEST_CASE("widths that there are not are errors on all ranks", "[ops][halo]") {
  const auto x = ht::ones({4}, {.split = 0});
  CHECK_THROWS_AS(ht::halo(x, {.width = -1}), ht::ValueError);
  CHECK_THROWS_AS(ht::halo(x, {.width = 5, .boundary = Boundary::periodic}), ht::ValueError);
  CHECK_THROWS_AS(ht::halo(x, {.width = 4, .boundary = Boundary::reflect}), ht::ValueError);
  CHECK_THROWS_AS(ht::halo(x, {.axis = 1}), ht::IndexError);
  CHECK(ht::array_with_halos(x, {.width = std::numeric_limits<std::int64_t>::max()}).numel() ==
        (x.lshape()[0] > 0 ? 4 : 0));
  CHECK(ht::array_with_halos(ht::ones({0}, {.split = 0}), {.width = 2}).numel() == 0);
  for (const auto boundary : {Boundary::constant, Boundary::edge}) {
    const auto largest = std::numeric_limits<std::int64_t>::max();
    CHECK_THROWS_AS(ht::halo(x, {.width = largest, .boundary = boundary}), ht::ValueError);
    for (const auto width : {largest / 4, std::int64_t{1} << 50}) {
      CHECK_THROWS_AS(ht::array_with_halos(x, {.width = width, .boundary = boundary}), ht::Error);
      const auto ghosts = ht::halo(x, {.width = width, .behind = 0, .boundary = boundary});
      CHECK(ghosts.behind().numel() == 0);
      if (x.lshape()[0] > 0) CHECK_THROWS_AS(ghosts.before(), ht::Error);
    }
  }
}

TEST_CASE("a constant beyond the ends is an element of the array", "[ops][halo]") {
  const auto x = ht::arange(6, {.dtype = ht::int8, .split = 0});
  CHECK_THROWS_AS(ht::halo(x, {.boundary = Boundary::constant, .value = 300}), ht::ValueError);
  CHECK_THROWS_AS(ht::halo(x, {.boundary = Boundary::constant, .value = NAN}), ht::ValueError);
  const auto y = ht::ones({6}, {.split = 0});
  CHECK_THROWS_AS(ht::halo(y, {.boundary = Boundary::constant, .value = std::complex<double>(1, 1)}), ht::TypeError);
  const auto rows = ht::array_with_halos(y, {.boundary = Boundary::constant, .value = 1e300});
  if (ht::world().rank() == 0) CHECK(std::isinf(rows[0].item<float>()));
}
