#include "../core/bricks.hpp"
#include "../core/grids.hpp"

#include <heatpp/core/detail/cuts/node_cells.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/fft/fft.hpp>
#include <heatpp/interop/torch.hpp>
#include <heatpp/ml/datasets/clusters.hpp>
#include <heatpp/ml/datasets/matrixgallery.hpp>
#include <heatpp/ops/creation/creation.hpp>
#include <heatpp/ops/creation/diagonal.hpp>
#include <heatpp/ops/elementwise/operators.hpp>
#include <heatpp/random/random.hpp>
#include <heatpp/sparse/construction.hpp>

#include <functional>
#include <numeric>

namespace {

using Make = std::function<ht::DNDarray(const ht::Shape&, const ht::ArrayOptions&)>;

/// Calls f with each grid for so many axes, and the balanced one.
void for_each_grid(std::size_t axes, const std::function<void(const ht::Grid&)>& f) {
  for (const auto& along : factorings(axes, ranks())) f(ht::Grid(along));
  f(ht::balanced_grid);
}

/// Whether an array has the even layout that the grid names, and elements that it has without a grid.
void check_grids(const ht::Shape& shape, const Make& make) {
  const auto expected = gathered(make(shape, {}));
  for_each_grid(shape.size(), [&](const ht::Grid& grid) {
    INFO(to_string(grid));
    const auto x = make(shape, {.grid = grid});
    CHECK(x.layout() == ht::detail::layout_on_grid(x.shape(), grid, ht::world()));
    CHECK(same(x, expected));
  });
}

using Draw = std::function<ht::DNDarray(ht::random::Generator&, const ht::Shape&, const ht::ArrayOptions&)>;

void check_drawn(const ht::Shape& shape, const Draw& draw) {
  check_grids(shape, [&](const ht::Shape& of, const ht::ArrayOptions& options) {
    ht::random::Generator generator(5);
    return draw(generator, of, options);
  });
}

}  // namespace

TEST_CASE("factories take a grid", "[grids][factories]") {
  const ht::Shape shape{5, 3, 4};
  check_grids(shape, [](const auto& of, const auto& on) { return ht::zeros(of, on); });
  check_grids(shape, [](const auto& of, const auto& on) { return ht::ones(of, on); });
  check_grids(shape, [](const auto& of, const auto& on) { return ht::full(of, 7, on); });
  check_grids(shape, [](const auto& of, auto on) {
    on.dtype = ht::int16;
    auto x = ht::empty(of, on);
    x += 1;
    x.index_put({ht::ellipsis}, 3);
    return x;
  });
  for (const int k : {-3, 0, 2})
    check_grids({7, 5}, [=](const auto& of, const auto& on) { return ht::eye(of[0], of[1], k, on); });
  check_grids({3, 2}, [](const auto&, const auto& on) { return ht::array({{1, 2}, {3, 4}, {5, 6}}, on); });
  check_grids({9}, [](const auto& of, const auto& on) { return ht::arange(2, of[0] + 2, on); });
  check_grids({9}, [](const auto& of, const auto& on) { return ht::linspace(0.5, 2, of[0], on); });
}

TEST_CASE("functions of positions take a grid", "[grids][factories]") {
  check_grids({3, 5, 3, 4}, [](const auto&, const auto& on) { return ht::indices({5, 3, 4}, on); });
  check_grids({5, 6}, [](const auto& of, const auto& on) {
    return ht::fromfunction([](const auto& i) { return i[0] * 10 + i[1]; }, of, on);
  });
  check_grids({9}, [](const auto& of, const auto& on) { return ht::geomspace(1, 512, of[0], on); });
  check_grids({9}, [](const auto& of, const auto& on) { return ht::fft::fftfreq(of[0], 1, on); });
  check_grids({9}, [](const auto& of, const auto& on) { return ht::hanning(of[0], on); });
  check_grids({4}, [](const auto&, const auto& on) { return ht::fromiter(std::vector{1, 5, 2, 7}, on); });
  check_grids({6, 4}, [](const auto&, const auto& on) { return ht::tri(6, {.columns = 4, .array = on}); });
  const auto model = ht::zeros({4, 6}, {.dtype = ht::int32, .split = 1});
  check_grids({4, 6}, [&](const auto&, const auto& on) { return ht::ones_like(model, {.grid = on.grid}); });
  check_grids({5, 2, 3},
              [&](const auto& of, const auto& on) { return ht::full_like(model, 4, {.shape = of, .grid = on.grid}); });
}

TEST_CASE("tensors that all ranks hold are cut over a grid", "[grids][factories]") {
  const auto global = numbered({5, 3, 4});
  for_each_grid(3, [&](const ht::Grid& grid) {
    const auto x = ht::from_tensor(global, {.grid = grid});
    CHECK(x.layout() == ht::detail::layout_on_grid({5, 3, 4}, grid, ht::world()));
    CHECK(same(x, global));
  });
}

TEST_CASE("blocks of a host form a grid of ranks", "[grids][factories]") {
  const ht::Shape shape{5, 7, 4};
  const auto global = numbered(shape);
  for (const auto& layout : every_grid(shape)) {
    if (layout.is_grid() && layout.place_along(0, 0) + layout.place_along(1, 0) + layout.place_along(2, 0) > 0)
      continue;  // placed otherwise by a host
    auto block = part_of(global, {layout.local_offset(rank()), layout.local_shape(rank())}).contiguous();
    const auto along = layout.grid();
    const auto x = ht::from_local(block, {.grid = ht::Grid(along)});
    CHECK(x.layout() == layout);
    CHECK(x.is_adopted());
    CHECK(x.larray().data_ptr() == block.data_ptr());
    CHECK(same(x, global));
  }
  CHECK_THROWS_WITH(ht::from_local(global, {.grid = ht::balanced_grid}),
                    Catch::Contains("[from_local] got grid balanced"));
  if (ranks() != 4) return;
  const auto uneven = at::zeros({rank() + 1, 2}, at::kDouble);
  CHECK_THROWS_WITH(ht::from_local(uneven, {.grid = {2, 2}}),
                    Catch::Contains("along axis 0 at place 0 of grid (2, 2)"));
  CHECK_THROWS_AS(ht::from_local(global, {.grid = rank() == 3 ? ht::Grid{4, 1, 1} : ht::Grid{2, 2, 1}}),
                  ht::ValueError);
}

TEST_CASE("random numbers do not depend on the grid", "[grids][random]") {
  using ht::random::Generator;
  for (const ht::Shape& shape : {ht::Shape{5, 3, 4}, ht::Shape{70, 40}, ht::Shape{3, 1}}) {
    check_drawn(shape, [](auto& g, const auto& of, const auto& on) { return g.random(of, on); });
    check_drawn(shape, [](auto& g, const auto& of, const auto& on) { return g.standard_normal(of, on); });
    check_drawn(shape, [](auto& g, const auto& of, auto on) {
      on.dtype = ht::float64;
      return g.normal(1, 2, of, on);
    });
    check_drawn(shape, [](auto& g, const auto& of, const auto& on) { return g.integers(3, 90, of, on); });
    check_drawn(shape, [](auto& g, const auto& of, const auto& on) { return g.standard_exponential(of, on); });
    check_drawn(shape, [](auto& g, const auto& of, const auto& on) { return g.gamma(2, 3, of, on); });
    check_drawn(shape, [](auto& g, const auto& of, const auto& on) { return g.poisson(7, of, on); });
    check_drawn(shape, [](auto& g, const auto& of, const auto& on) {
      return g.uniform(0, ht::arange(1, 1 + of.back()), of, on);
    });
    check_drawn(shape, [](auto& g, const auto& of, const auto& on) { return g.choice(30, of, {.grid = on.grid}); });
    const auto weights = ht::array({0.25, 0.0, 0.5, 0.25}, {.split = 0});
    check_drawn(shape, [&](auto& g, const auto& of, const auto& on) {
      return g.choice(4, of, {.p = weights, .grid = on.grid});
    });
  }
  check_drawn({3, 2}, [](auto& g, const auto& of, const auto& on) {
    return g.choice(9, of, {.replace = false, .grid = on.grid});
  });
  check_drawn({5, 3, 4}, [](auto& g, const auto&, const auto& on) { return g.dirichlet({1, 2, 3, 4}, {5, 3}, on); });
  check_drawn({5, 3}, [](auto& g, const auto&, const auto& on) {
    return g.multinomial(ht::arange(5), {0.2, 0.3, 0.5}, {}, on);
  });
  check_drawn({9}, [](auto& g, const auto& of, const auto& on) { return g.permutation(of[0], on); });
}

TEST_CASE("matrices with known properties take a grid", "[grids][factories]") {
  for_each_grid(2, [](const ht::Grid& grid) {
    const auto layout = ht::detail::layout_on_grid({6, 6}, grid, ht::world());
    ht::random::seed(3);
    const auto matrices = std::vector{ht::datasets::parter(6, {.grid = grid}),
                                      ht::datasets::hermitian(6, {.positive_definite = true, .array = {.grid = grid}}),
                                      ht::datasets::random_orthogonal(6, 6, {.grid = grid}),
                                      ht::datasets::random_known_rank(6, 6, 2, {.array = {.grid = grid}}).a};
    ht::random::seed(3);
    const auto expected =
        std::vector{ht::datasets::parter(6), ht::datasets::hermitian(6, {.positive_definite = true}),
                    ht::datasets::random_orthogonal(6, 6), ht::datasets::random_known_rank(6, 6, 2).a};
    for (std::size_t i = 0; i < matrices.size(); ++i) {
      CHECK(matrices[i].layout() == layout);
      CHECK(close(matrices[i], gathered(expected[i]), 1e-5));
    }
  });
}

TEST_CASE("a grid that does not fit is an error on all ranks", "[grids][factories]") {
  const auto message = [](const ht::ArrayOptions& on) {
    return message_of<ht::ValueError>([&] { static_cast<void>(ht::zeros({4, 6}, on)); });
  };
  CHECK(message({.split = 0, .grid = {ranks(), 1}}) ==
        "[zeros] got split 0 and grid (" + std::to_string(ranks()) + ", 1); expected one of them");
  CHECK_THAT(message({.grid = {ranks(), 2}}), Catch::Contains(std::to_string(ranks()) + ", 2)"));
  CHECK_THAT(message({.grid = {ranks(), 2}}), Catch::Contains("on " + std::to_string(ranks()) + " ranks"));
  CHECK_THAT(message({.grid = {ranks(), 1, 1}}), Catch::Contains("(4, 6)"));
  CHECK_THROWS_AS(ht::random::random({4, 6}, {.split = 1, .grid = {1, ranks()}}), ht::ValueError);
  CHECK_THROWS_AS(ht::empty_like(ht::zeros({4, 6}), {.split = 1, .grid = {1, ranks()}}), ht::ValueError);
  CHECK_THROWS_AS(ht::from_local(at::zeros({2, 2}), {.split = 0, .grid = {ranks(), 1}}), ht::ValueError);
  CHECK_THROWS_AS(ht::from_tensor(at::zeros({2, 2}), {.grid = {ranks(), 3}}), ht::ValueError);
  CHECK_THROWS_AS(ht::random::choice(5, {4}, {.split = 0, .grid = {ranks()}}), ht::ValueError);
  // What consists of rows has no grid.
  const auto rows = ht::zeros({2, 2});
  CHECK_THROWS_WITH(ht::datasets::create_clusters(4, rows, 1, {.array = {.grid = {ranks(), 1}}}),
                    Catch::Contains("[create_clusters] got grid"));
  CHECK_THROWS_WITH(ht::sparse::identity(4, {.grid = {ranks(), 1}}), Catch::Contains("[identity] got grid"));
}

TEST_CASE("a host's bricks become an array on a grid, and go back", "[grids][blocks]") {
  const ht::Shape shape{6, 5, 4};
  const auto global = numbered(shape);
  const auto bricks = dealt(cut(shape, {3, 2, 2}), 0, 1);
  for (const std::int64_t ghosts : {0, 1})
    for_each_grid(3, [&](const ht::Grid& grid) {
      const ht::BlockPlan plan(shape, bricks, ht::float64, {.grid = grid, .ghosts = {ghosts}});
      CHECK(plan.layout() == ht::detail::layout_on_grid(shape, grid, ht::world()));
      std::vector<at::Tensor> memory, back;
      for (const auto& brick : bricks) {
        memory.push_back(memory_of(brick, ghosts, at::kDouble, global));
        back.push_back(memory_of(brick, ghosts, at::kDouble));
      }
      const auto x = plan.from_blocks(std::span<const at::Tensor>(memory));
      CHECK(x.layout() == plan.layout());
      CHECK(same(x, global));
      for (const auto& layout : every_grid(shape)) {
        plan.to_blocks(distribute(global, layout), std::span<const at::Tensor>(back));
        for (std::size_t i = 0; i < back.size(); ++i) CHECK(equals(back[i], memory[i]));
      }
    });
  for (const int split : {0, 1})
    CHECK(message_of<ht::ValueError>([&] {
            ht::BlockPlan(shape, bricks, ht::float64, {.split = split, .grid = {ranks(), 1, 1}});
          })
              .find("[from_blocks] got split " + std::to_string(split) + " and grid (" + std::to_string(ranks()) +
                    ", 1, 1); expected one of them") == 0);
  CHECK(ht::BlockPlan(shape, bricks, ht::float64, {.split = std::nullopt, .grid = {1, ranks(), 1}}).layout().grid() ==
        Along{1, ranks(), 1});
  CHECK(ht::BlockPlan(shape, bricks, ht::float64).layout() == ht::Layout(shape, 0, ranks()));
  CHECK_FALSE(ht::BlockPlan(shape, bricks, ht::float64, {.split = std::nullopt}).layout().split());
  if (ranks() < 2) return;
  const auto differs = rank() == 0 ? ht::Grid{ranks(), 1, 1} : ht::Grid{1, 1, ranks()};
  CHECK_THROWS_AS(ht::BlockPlan(shape, bricks, ht::float64, {.grid = differs}), ht::ValueError);
}

TEST_CASE("bricks that do not fit a grid, or fail on one rank, are errors on all ranks", "[grids][blocks]") {
  const ht::Shape shape{6, 5, 4};
  const bool last = rank() == ranks() - 1;
  for_each_grid(3, [&](const ht::Grid& grid) {
    const auto layout = ht::Layout::on_grid(shape, grid, ranks());
    const ht::Brick mine{layout.local_offset(rank()), layout.local_shape(rank())};
    const auto error = [&](const std::vector<ht::Brick>& bricks) {
      return message_of<ht::ValueError>([&] { ht::BlockPlan(shape, bricks, ht::float64, {.grid = grid}); });
    };
    auto thin = mine;
    --thin.shape[1];
    CHECK(error({last ? thin : mine}).find("cells in all; expected the 120") != std::string::npos);
    CHECK(error(last ? std::vector{mine, mine} : std::vector{mine}).find("which overlap") != std::string::npos);
    auto beside = mine;
    beside.offset[2] += 4;
    CHECK(error({last ? beside : mine}).find("expected one inside of shape (6, 5, 4)") != std::string::npos);

    const ht::BlockPlan plan(shape, {mine}, ht::float64, {.grid = grid});
    auto memory = memory_of(mine, 0, at::kDouble, numbered(shape));
    CHECK_THROWS_AS(ht::adopt_blocks(last ? nullptr : memory.data_ptr(), plan), ht::ValueError);
    CHECK_THROWS_AS(ht::adopt_blocks(last ? memory.to(at::kFloat) : memory, plan), ht::ValueError);
    CHECK_THROWS_AS(plan.from_blocks(last ? nullptr : memory.data_ptr()), ht::ValueError);
    CHECK_THROWS_AS(plan.to_blocks(ht::zeros<double>({6, 5, 3}), memory.data_ptr()), ht::ValueError);
    CHECK(same(ht::adopt_blocks(memory.data_ptr(), plan), numbered(shape)));
    const ht::BlockPlan none(shape, last ? std::vector<ht::Brick>{{{0, 0, 0}, shape}} : std::vector<ht::Brick>{},
                             ht::float64, {.grid = grid});
    if (ranks() > 1)
      CHECK(message_of<ht::ValueError>([&] {
              static_cast<void>(ht::adopt_blocks(memory.data_ptr(), none));
            }).find("from_blocks") != std::string::npos);
  });
}
