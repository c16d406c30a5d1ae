#include "bricks.hpp"
#include "grids.hpp"

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/redistribute.hpp>

namespace {

/// Ghost cells on the sides of a brick.
struct Widths {
  ht::Shape before, behind;
};

ht::Brick with_ghosts(ht::Brick brick, const Widths& widths) {
  brick.before = widths.before, brick.behind = widths.behind;
  return brick;
}

bool is_periodic(const std::vector<bool>& periodic, std::size_t axis) {
  return !periodic.empty() && periodic[periodic.size() == 1 ? 0 : axis];
}

/// Returns the memory of a brick whose ghost cells are right: the domain again along periodic axes, else `ghost`.
at::Tensor refreshed(const ht::Brick& brick, const at::Tensor& global, const std::vector<bool>& periodic) {
  auto memory = global;
  auto known = at::ones({}, at::kBool);
  for (std::size_t axis = 0; axis < brick.shape.size(); ++axis) {
    const auto extent = global.size(static_cast<std::int64_t>(axis));
    const auto cells = at::arange(brick.offset[axis] - brick.before[axis],
                                  brick.offset[axis] + brick.shape[axis] + brick.behind[axis], at::kLong);
    memory = memory.index_select(static_cast<std::int64_t>(axis), cells.remainder(extent));
    const auto inside = is_periodic(periodic, axis) ? at::ones_like(cells, at::kBool) : cells.ge(0) & cells.lt(extent);
    known = known.unsqueeze(-1) & inside;
  }
  return at::where(known, memory, at::full({}, ghost, memory.options()));
}

/// Returns the memory of a brick, with `ghost` in all of its ghost cells.
at::Tensor stale(const ht::Brick& brick, const at::Tensor& global) {
  auto extents = brick.shape;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) extents[axis] += brick.before[axis] + brick.behind[axis];
  auto memory = at::full(extents, ghost, at::kDouble).to(global.scalar_type());
  auto core = memory;
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    core = core.narrow(static_cast<std::int64_t>(axis), brick.before[axis], brick.shape[axis]);
  core.copy_(part_of(global, brick));
  return memory;
}

/// Whether some block of the layout has more ghost cells than the block beside it.
bool too_wide(const ht::Layout& layout, const Widths& widths, const std::vector<bool>& periodic) {
  for (std::size_t axis = 0; axis < widths.before.size(); ++axis) {
    const auto cut = layout.cut_along(static_cast<int>(axis));
    std::vector<std::int64_t> extents;
    for (int place = 0; place < cut.ranks(); ++place)
      if (cut.extent(place) > 0) extents.push_back(cut.extent(place));
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (i + 1 == extents.size() && !is_periodic(periodic, axis)) continue;
      const auto next = (i + 1) % extents.size();
      if (widths.before[axis] > extents[i] || widths.behind[axis] > extents[next]) return true;
    }
  }
  return false;
}

const std::vector<std::vector<bool>> every_period{{}, {true}, {true, false, true}, {false, true, false}};

}  // namespace

TEST_CASE("one call fills the ghost cells of bricks on every grid", "[blocks]") {
  const ht::Shape shape{6, 5, 7};
  const auto global = numbered(shape);
  std::size_t refused = 0, filled = 0;
  for (const auto& layout : every_grid(shape))
    for (const auto& widths : std::vector<Widths>{{{1, 1, 1}, {1, 1, 1}}, {{2, 0, 1}, {0, 1, 3}}})
      for (const auto& periodic : every_period) {
        const auto brick = with_ghosts({layout.local_offset(rank()), layout.local_shape(rank())}, widths);
        const ht::BlockPlan plan(shape, {brick}, ht::float64);
        auto memory = stale(brick, global);
        const auto x = ht::adopt_blocks(memory.data_ptr(), plan);
        const auto refresh = [&] { ht::refresh_ghosts(memory.data_ptr(), plan, {.periodic = periodic}); };
        if (too_wide(layout, widths, periodic)) {
          CHECK_THROWS_AS(refresh(), ht::ValueError);
          CHECK(equals(memory, stale(brick, global)));
          ++refused;
          continue;
        }
        refresh();
        const bool empty = ht::size_of(brick.shape) == 0;
        CHECK(equals(memory, empty ? stale(brick, global) : refreshed(brick, global, periodic)));
        CHECK(same(x, global));
        ++filled;
      }
  CHECK(filled > 0);
  if (ranks() > 3) CHECK(refused > 0);
}

TEST_CASE("ghost cells of several bricks a rank, each with its own", "[blocks]") {
  const ht::Shape shape{6, 8};
  const auto global = numbered(shape, at::kFloat);
  std::vector<ht::BlockOptions> cuts{{.split = std::nullopt}, {.split = 0}, {.split = 1}, {.grid = ht::balanced_grid}};
  for (const auto& along : factorings(2, ranks())) cuts.push_back({.grid = ht::Grid(along)});
  for (const auto& how : cuts)
    for (const int step : {0, 1}) {
      auto mine = dealt(cut(shape, {2, 2}), ranks() - 1, step);
      std::vector<at::Tensor> blocks;
      for (auto& brick : mine) {
        const auto last = brick.offset[1] > 0 ? 1 : 0;
        brick.before = {brick.offset[0] > 0 ? 1 : 0, last}, brick.behind = {1, 2 - 2 * last};
        blocks.push_back(stale(brick, global));
      }
      const ht::BlockPlan plan(shape, mine, ht::float32, how);
      ht::refresh_ghosts(blocks, plan, {.periodic = {true, false}});
      for (std::size_t i = 0; i < mine.size(); ++i) CHECK(equals(blocks[i], refreshed(mine[i], global, {true, false})));
      const auto before = ht::comm_report().calls;
      for (std::size_t i = 0; i < mine.size(); ++i) blocks[i] = stale(mine[i], global + 1);
      ht::refresh_ghosts(blocks, plan, {.periodic = {true, false}});
      for (std::size_t i = 0; i < mine.size(); ++i)
        CHECK(equals(blocks[i], refreshed(mine[i], global + 1, {true, false})));
      CHECK(ht::comm_report().calls - before <= 2);
    }
}

TEST_CASE("a stencil of 27 points on adopted bricks follows the serial one", "[blocks]") {
  const ht::Shape shape{8, 6, 7};
  const auto cube = [](const at::Tensor& padded) {
    auto sum = at::zeros_like(padded);
    for (std::int64_t i = -1; i <= 1; ++i)
      for (std::int64_t j = -1; j <= 1; ++j)
        for (std::int64_t k = -1; k <= 1; ++k) sum += padded.roll({i, j, k}, {0, 1, 2}) * (1 + i + 2 * j * j + 3 * k);
    return sum.remainder(1009);  // whole numbers, so that every order of the sums gives the same
  };
  for (const auto& layout : every_grid(shape)) {
    if (too_wide(layout, {{1, 1, 1}, {1, 1, 1}}, {true})) continue;
    auto global = numbered(shape);
    const auto brick = with_ghosts({layout.local_offset(rank()), layout.local_shape(rank())}, {{1, 1, 1}, {1, 1, 1}});
    const ht::BlockPlan plan(shape, {brick}, ht::float64);
    auto memory = stale(brick, global);
    auto x = ht::adopt_blocks(memory, plan);
    for (int step = 0; step < 3; ++step) {
      ht::refresh_ghosts(std::span(&memory, 1), plan, {.periodic = {true}});
      auto next = cube(memory);
      for (int axis = 0; axis < 3; ++axis) next = next.narrow(axis, 1, brick.shape[static_cast<std::size_t>(axis)]);
      x = ht::detail::wrap(next.reshape(x.lshape()), x.layout(), x.comm());
      global = cube(global);
      CHECK(same(x, global));
    }
  }
}

TEST_CASE("what refreshed ghosts send, and errors on all ranks with the values", "[blocks]") {
  const ht::Shape shape{3, 2 * ranks()};
  const auto global = numbered(shape);
  const auto with = [&](std::int64_t width) {
    return with_ghosts({{0, 2 * rank()}, {3, 2}}, {{0, width}, {0, width}});
  };
  const ht::BlockPlan plan(shape, {with(1)}, ht::float64), wide(shape, {with(3)}, ht::float64);
  auto memory = stale(with(1), global), broad = stale(with(3), global);
  ht::refresh_ghosts(memory.data_ptr(), plan);
  const auto before = ht::comm_report();
  ht::refresh_ghosts(memory.data_ptr(), plan);
  const auto neighbours = (rank() > 0 ? 1 : 0) + (rank() + 1 < ranks() ? 1 : 0);
  CHECK(ht::comm_report().bytes - before.bytes == (ranks() > 1 ? 24 + 3 * 8 * neighbours : 0));
  CHECK(equals(memory, refreshed(with(1), global, {})));

  const auto text = message_of<ht::ValueError>([&] {
    ht::refresh_ghosts(broad.data_ptr(), wide, {.periodic = {false, true}});
  });
  CHECK(text.find("[refresh_ghosts] got 3 ghost cells be") == 0);
  CHECK(text.find("axis 1 of the brick of shape (3, 2) at (0, ") != std::string::npos);
  CHECK(text.find("expected at most 2") != std::string::npos);
  CHECK(equals(broad, stale(with(3), global)));
  CHECK_THROWS_AS(ht::refresh_ghosts(memory.data_ptr(), plan, {.periodic = {true, true, true}}), ht::ValueError);
  void* const on_some = rank() + 1 < ranks() ? memory.data_ptr() : nullptr;
  CHECK_THROWS_AS(ht::refresh_ghosts(on_some, plan), ht::ValueError);
  if (ranks() > 1)
    CHECK_THROWS_AS(ht::refresh_ghosts(memory.data_ptr(), plan, {.periodic = {rank() == 0}}), ht::ValueError);
  CHECK(equals(memory, refreshed(with(1), global, {})));
}

TEST_CASE("an adopted brick at strides", "[blocks]") {
  const ht::Shape shape{4 * ranks(), 5};
  const auto global = numbered(shape);
  const auto brick = with_ghosts({{4 * rank(), 0}, {4, 5}}, {{1, 2}, {1, 0}});
  const ht::BlockPlan plan(shape, {brick}, ht::float64);
  auto fortran = stale(brick, global).t().contiguous().t();
  auto x = ht::adopt_blocks(fortran, plan);
  ht::refresh_ghosts(std::span(&fortran, 1), plan, {.periodic = {true}});
  CHECK(equals(fortran, refreshed(brick, global, {true})));
  CHECK(same(x, global));
  CHECK(x.is_adopted());
  CHECK_THROWS_AS(ht::adopt_blocks(at::zeros({1, 1}, at::kDouble).expand({6, 7}), plan), ht::ValueError);
}
