#include "bricks.hpp"
#include "grids.hpp"

#include <heatpp/core/detail/cuts/group_along.hpp>
#include <heatpp/core/detail/cuts/node_cells.hpp>
#include <heatpp/core/detail/relayout.hpp>

#include <heatpp/core/printing.hpp>

#include <algorithm>
#include <array>
#include <numeric>

TEST_CASE("a grid cuts several axes, and its ranks are in C order", "[core][layout]") {
  const auto layout = ht::Layout::on_grid({5, 7, 4}, {2, 3, 1}, 6);
  CHECK(layout.is_grid());
  CHECK(layout.is_cut());
  CHECK(layout.grid() == Along{2, 3, 1});
  CHECK(layout.is_balanced());
  CHECK(layout.local_shape(0) == ht::Shape{3, 3, 4});
  CHECK(layout.local_shape(5) == ht::Shape{2, 2, 4});
  CHECK(layout.local_offset(1) == ht::Shape{0, 3, 0});
  CHECK(layout.local_offset(4) == ht::Shape{3, 3, 0});
  CHECK(layout.place_along(0, 3) == 1);
  CHECK(layout.place_along(1, 3) == 0);
  CHECK(layout == ht::Layout::on_grid({5, 7, 4}, {2, 3, 1}, 6));
  CHECK_FALSE(layout == ht::Layout::on_grid({5, 7, 4}, {3, 2, 1}, 6));
  CHECK_FALSE(layout == ht::Layout({5, 7, 4}, 0, 6));
}

TEST_CASE("a grid that cuts one axis or none is a split", "[core][layout]") {
  CHECK(ht::Layout::on_grid({5, 7}, {1, 3}, 3) == ht::Layout({5, 7}, 1, 3));
  CHECK(ht::Layout::on_grid({5, 7}, {1, 1}, 1) == ht::Layout({5, 7}, std::nullopt, 1));
  CHECK(ht::Layout({5, 7}, 1, 3).grid() == Along{1, 3});
  CHECK(ht::Layout({5, 7}, std::nullopt, 3).grid() == Along{1, 1});
}

TEST_CASE("a host places its ranks in the cells of a grid", "[core][layout]") {
  const std::vector cuts{ht::detail::Cut::even(4, 2), ht::detail::Cut::at({0, 5, 6})};
  const auto layout = ht::Layout::from_cuts({4, 6}, cuts, {0, 2, 1, 3});
  CHECK(layout.local_offset(1) == ht::Shape{2, 0});
  CHECK(layout.local_offset(2) == ht::Shape{0, 5});
  CHECK_FALSE(layout.is_balanced());
  CHECK(layout.balanced() == ht::Layout::from_cuts({4, 6}, {cuts[0], ht::detail::Cut::even(6, 2)}, {0, 2, 1, 3}));
  CHECK(ht::Layout::from_cuts({4, 6}, cuts, {0, 1, 2, 3}) == ht::Layout::from_cuts({4, 6}, cuts));
  CHECK(ht::Layout::from_cuts({4, 6}, {cuts[0], ht::detail::Cut::even(6, 1)}, {1, 0}).is_grid());
}

TEST_CASE("a balanced grid has nearly cubic blocks", "[core][layout]") {
  CHECK(ht::balanced_grid.along_axes({512, 512, 512}, 4) == Along{2, 2, 1});
  CHECK(ht::balanced_grid.along_axes({512, 512, 512}, 192) == Along{6, 8, 4});
  CHECK(ht::balanced_grid.along_axes({10, 1000}, 7) == Along{1, 7});
  CHECK(ht::balanced_grid.along_axes({3}, 12) == Along{12});
}

/// Returns the smallest box of cells around the ranks of a node.
static Along box_around(const ht::Layout& layout, int first, int in_node) {
  Along box;
  for (int axis = 0; axis < layout.ndim(); ++axis) {
    int least = layout.ranks(), most = 0;
    for (int rank = first; rank < first + in_node; ++rank) {
      least = std::min(least, layout.place_along(axis, rank));
      most = std::max(most, layout.place_along(axis, rank));
    }
    box.push_back(most - least + 1);
  }
  return box;
}

static bool nodes_are_boxes(const ht::Layout& layout, int in_node) {
  for (int first = 0; first < layout.ranks(); first += in_node) {
    const auto box = box_around(layout, first, in_node);
    if (std::accumulate(box.begin(), box.end(), 1, std::multiplies()) != in_node) return false;
  }
  return true;
}

/// The layout of a balanced grid over nodes of so many ranks each.
static ht::Layout by_node(const ht::Shape& shape, int ranks, int in_node) {
  const auto layout = ht::Layout::on_grid(shape, ht::balanced_grid, ranks);
  auto cells = ht::detail::cells_by_node(shape, layout.grid(), in_node);
  if (!layout.is_grid() || cells.empty()) return layout;
  return ht::Layout::from_cuts(shape, layout.grid_cut().cuts(), std::move(cells));
}

TEST_CASE("a node's ranks fill a box of a balanced grid", "[core][layout]") {
  for (const ht::Shape& shape : {ht::Shape{512, 512, 512}, ht::Shape{64, 2048}, ht::Shape{256, 256}, ht::Shape{1000}})
    for (const int in_node : {1, 2, 4, 8, 16})
      for (const int ranks : {16, 64, 128, 1024})
        CHECK(nodes_are_boxes(ht::Layout::on_grid(shape, ht::balanced_grid, ranks), in_node));
  for (const int in_node : {4, 32})  // racks of 8 nodes with 4 ranks
    CHECK(nodes_are_boxes(ht::Layout::on_grid({512, 512, 512}, ht::balanced_grid, 192), in_node));
  CHECK_FALSE(nodes_are_boxes(ht::Layout::on_grid({512, 512}, {2, 3}, 6), 2));
}

TEST_CASE("nodes of any number of ranks fill boxes, if the grid consists of such boxes", "[core][layout]") {
  const ht::Shape cube{512, 512, 512};
  CHECK(ht::balanced_grid.along_axes(cube, 12) == Along{3, 2, 2});
  const auto two = by_node(cube, 12, 6);
  CHECK(two.grid() == Along{3, 2, 2});
  CHECK(box_around(two, 0, 6) == Along{3, 2, 1});
  CHECK(box_around(two, 6, 6) == Along{3, 2, 1});
  CHECK_FALSE(nodes_are_boxes(ht::Layout::on_grid(cube, ht::balanced_grid, 12), 6));
  CHECK(box_around(by_node({600, 600, 600}, 216, 4), 8, 4) == Along{2, 2, 1});
  for (const ht::Shape& shape : {cube, ht::Shape{64, 2048}, ht::Shape{256, 256}, ht::Shape{100, 300, 500}})
    for (const int in_node : {2, 3, 4, 6, 8, 10, 12, 20, 24, 48, 64, 96, 128})
      for (const int nodes : {1, 2, 3, 4, 6, 12, 30, 64}) {
        INFO(in_node << " ranks in each of " << nodes << " nodes, shape " << to_string(shape));
        const auto layout = by_node(shape, in_node * nodes, in_node);
        CHECK(nodes_are_boxes(layout, in_node));
      }
  // A prime number of ranks that is no factor of the grid has no box.
  CHECK(ht::detail::cells_by_node({9, 9}, {4, 4}, 5).empty());
  CHECK(ht::detail::cells_by_node({9, 9}, {4, 9}, 8).empty());
}

TEST_CASE("arrays on balanced grids lie by nodes", "[core][layout]") {
  const auto in_node = ht::detail::ranks_in_node(ht::world());
  const auto layout = ht::zeros({12, 12, 12}, {.grid = ht::balanced_grid}).layout();
  CHECK(layout == by_node({12, 12, 12}, ranks(), in_node));
  CHECK(layout == ht::regrid(ht::zeros({12, 12, 12}), ht::balanced_grid).layout());
}

TEST_CASE("errors for grids that do not fit name the reason", "[core][layout]") {
  const auto text = message_of<ht::ValueError>([] { static_cast<void>(ht::Layout::on_grid({4, 4}, {2, 2}, 3)); });
  CHECK(text.find("(2, 2)") != std::string::npos);
  CHECK(text.find("3 ranks") != std::string::npos);
  CHECK_THROWS_AS(ht::Layout::on_grid({4, 4}, {4}, 4), ht::ValueError);
  CHECK_THROWS_AS(ht::Layout::on_grid({4, 4}, {-2, -2}, 4), ht::ValueError);
  CHECK_THROWS_AS(ht::Layout::on_grid({4, 4}, {1 << 16, 1 << 16}, 1), ht::ValueError);
  CHECK_THROWS_AS(ht::Layout::on_grid({4, 4}, {}, 4), ht::ValueError);
  CHECK_THROWS_AS(ht::Layout::on_grid({}, ht::balanced_grid, 4), ht::ValueError);
  const std::vector cuts{ht::detail::Cut::even(4, 2), ht::detail::Cut::even(4, 2)};
  CHECK_THROWS_AS(ht::Layout::from_cuts({4, 5}, cuts), ht::ValueError);
  CHECK_THROWS_AS(ht::Layout::from_cuts({4}, cuts), ht::ValueError);
  CHECK_THROWS_AS(ht::Layout::from_cuts({4, 4}, cuts, {0, 1, 2}), ht::ValueError);
  CHECK_THROWS_AS(ht::Layout::from_cuts({4, 4}, cuts, {0, 1, 2, 2}), ht::ValueError);
}

TEST_CASE("functions that need one cut are an error on a grid", "[core][layout]") {
  const auto layout = ht::Layout::on_grid({4, 6}, {2, 2}, 4);
  const auto text = message_of<ht::ValueError>([&] { static_cast<void>(layout.split()); });
  CHECK(text.find("x.grid()") != std::string::npos);
  CHECK(text.find("(2, 2)") != std::string::npos);
  CHECK_THROWS_AS(layout.offset(0), ht::ValueError);
  CHECK_THROWS_AS(layout.count(0), ht::ValueError);
  CHECK_THROWS_AS(layout.owner(0), ht::ValueError);
  CHECK_THROWS_AS(layout.offsets(), ht::ValueError);
  CHECK_THROWS_AS(layout.with({4, 6}, std::nullopt), ht::ValueError);
}

TEST_CASE("arrays move between all grids and cuts", "[core][redistribute]") {
  const ht::Shape shape{5, 3, 4};
  const auto global = numbered(shape);
  auto layouts = every_grid(shape);
  const auto cuts = every_layout(shape);
  layouts.insert(layouts.end(), cuts.begin(), cuts.end());
  for (std::size_t from = 0; from < layouts.size(); ++from) {
    const auto x = distribute(global, layouts[from]);
    CHECK(same(x, global));
    // Each layout goes to a few targets; together these are all layouts.
    for (std::size_t step = from % 23; step < layouts.size(); step += 23) {
      const auto y = ht::detail::brought_to(x, layouts[step]);
      CHECK(y.layout() == layouts[step]);
      CHECK(same(y, global));
    }
  }
}

TEST_CASE("regrid, balance, resplit and collect of arrays on grids", "[core][redistribute]") {
  const ht::Shape shape{6, 5};
  const auto global = numbered(shape, at::kFloat);
  for (const auto& layout : every_grid(shape)) {
    const auto x = distribute(global, layout);
    for (const auto& along : factorings(2, ranks())) {
      const auto y = ht::regrid(x, ht::Grid(along));
      CHECK(y.grid() == along);
      CHECK(same(y, global));
    }
    CHECK(same(ht::resplit(x, 1), global));
    CHECK(ht::resplit(x, 1).split() == 1);
    CHECK(ht::balance(x).is_balanced());
    CHECK(ht::balance(x).grid() == x.grid());
    CHECK(same(ht::balance(x), global));
    const auto one = ht::collect(x, ranks() - 1);
    CHECK(one.larray().numel() == (rank() == ranks() - 1 ? 30 : 0));
    CHECK(same(one, global));
    CHECK(same(x.astype(ht::float64), global.to(at::kDouble)));
    CHECK(same(ht::copy(x), global));
    CHECK(x.to_vector<float>() == ht::resplit(x, std::nullopt).to_vector<float>());
    CHECK(ht::lshape_map(x)[static_cast<std::size_t>(rank())] == x.lshape());
  }
  const auto y = ht::regrid(ht::resplit(distribute(global, ht::Layout(shape, 0, ranks())), 0), ht::balanced_grid);
  CHECK(y.grid() == ht::balanced_grid.along_axes(shape, ranks()));
  CHECK_THROWS_AS(ht::regrid(y, {ranks(), 2}), ht::ValueError);
}

TEST_CASE("one element on a grid", "[core]") {
  const auto global = at::full({1, 1}, 7.5);
  for (const auto& layout : every_grid({1, 1})) CHECK(distribute(global, layout).item<double>() == 7.5);
}

TEST_CASE("an array on a grid prints as one with a split", "[core][printing]") {
  const auto options = ht::get_printoptions();
  for (const std::int64_t threshold : {1000, 5}) {
    auto wanted = options;
    wanted.threshold = threshold, wanted.edgeitems = 2;
    ht::set_printoptions(wanted);
    const ht::Shape shape{9, 7};
    const auto body = [](const std::string& text) { return text.substr(0, text.find(", shape=")); };
    const auto expected = ht::to_string(distribute(numbered(shape), ht::Layout(shape, std::nullopt, ranks())));
    for (const auto& layout : every_grid(shape)) {
      const auto text = ht::to_string(distribute(numbered(shape), layout));
      CHECK(body(text) == body(expected));
      if (layout.is_grid()) CHECK(text.find("grid=(") != std::string::npos);
    }
  }
  ht::set_printoptions(options);
}

TEST_CASE("a host's bricks are an array in place", "[blocks]") {
  const ht::Shape shape{6, 5, 4};
  const auto global = numbered(shape);
  for (const auto& layout : every_grid(shape))
    for (const std::int64_t ghosts : {0, 2}) {
      const ht::Brick mine{layout.local_offset(rank()), layout.local_shape(rank())};
      auto memory = memory_of(mine, ghosts, at::kDouble, global);
      const ht::BlockPlan plan(shape, {mine}, ht::float64, {.ghosts = {ghosts}});
      const auto before = ht::comm_report().bytes;
      auto x = ht::adopt_blocks(memory.data_ptr(), plan);
      CHECK(ht::comm_report().bytes - before == (ranks() > 1 ? 8 + 48 : 0));
      CHECK(x.is_adopted());
      CHECK(same(x, global));
      for (std::size_t r = 0; r < static_cast<std::size_t>(ranks()); ++r)
        CHECK(ht::size_of(x.layout().local_shape(static_cast<int>(r))) ==
              ht::size_of(layout.local_shape(static_cast<int>(r))));
      const auto kept = x;
      x = ht::detail::wrap(x.larray() + 1, x.layout(), x.comm());
      CHECK(equals(memory, memory_of(mine, ghosts, at::kDouble, global + 1)));
      CHECK(same(kept, global));
      auto back = memory_of(mine, ghosts, at::kDouble);
      plan.to_blocks(x, back.data_ptr());
      CHECK(equals(back, memory));
    }
}

TEST_CASE("bricks that form no grid name from_blocks", "[blocks]") {
  const ht::Shape shape{4 * ranks(), 4};
  std::vector<ht::Brick> several;
  for (const std::int64_t half : {0, 2}) several.push_back({{4 * rank(), half}, {4, 2}});
  const ht::BlockPlan two(shape, several, ht::float64);
  auto memory = at::zeros({4, 4}, at::kDouble);
  const auto text = message_of<ht::ValueError>([&] { static_cast<void>(ht::adopt_blocks(memory.data_ptr(), two)); });
  CHECK(text.find("from_blocks") != std::string::npos);
  if (ranks() < 3) return;
  // Ranks 0 and 1 have halves of the first rows, the others whole rows.
  const ht::Brick mine = rank() < 2 ? ht::Brick{{0, 2 * rank()}, {8, 2}} : ht::Brick{{4 * rank(), 0}, {4, 4}};
  const ht::BlockPlan plan(shape, {mine}, ht::float64);
  memory = at::zeros(mine.shape, at::kDouble);
  CHECK(message_of<ht::ValueError>([&] {
          static_cast<void>(ht::adopt_blocks(memory.data_ptr(), plan));
        }).find("from_blocks") != std::string::npos);
}

TEST_CASE("layouts of other axes keep cuts, and ranks along cut axes left out are copies", "[core][layout]") {
  const auto layout = ht::Layout::on_grid({4, 6, 5}, {2, 2, 1}, 4);
  const auto rows = layout.along({4, 5}, std::vector{0, 2});
  CHECK(rows.is_grid());
  CHECK(rows.grid() == Along{2, 1});
  CHECK(rows.local_shape(1) == ht::Shape{2, 5});
  CHECK(rows.local_offset(1) == ht::Shape{0, 0});
  CHECK(rows.local_offset(3) == ht::Shape{2, 0});
  CHECK(rows == layout.along({4, 1, 5}, std::vector{0, -1, 2}).along({4, 5}, std::vector{0, 2}));
  CHECK_FALSE(rows == layout.along({4, 5}, std::vector{0, 2})
                          .recut({4, 5}, {ht::detail::Cut::at({0, 1, 4}), ht::detail::Cut::even(5, 1)}));
  CHECK(layout.along({6, 5, 4}, std::vector{1, 2, 0}).local_offset(2) == ht::Shape{0, 0, 2});
  CHECK(layout.along({5}, std::vector{2}) == ht::Layout({5}, std::nullopt, 4));
  CHECK(ht::Layout({4, 6}, 1, 3).along({6, 4}, std::vector{1, 0}) == ht::Layout({6, 4}, 0, 3));
  CHECK(ht::Layout({4, 6}, 1, 3).along({4}, std::vector{0}) == ht::Layout({4}, std::nullopt, 3));
}

TEST_CASE("arrays move from and to layouts with copies", "[core][redistribute]") {
  const ht::Shape domain{5, 3, 4}, left{5, 4};
  const auto global = numbered(left);
  auto targets = every_layout(left);
  std::vector<ht::Layout> sources;
  for (const auto& layout : every_grid(domain)) sources.push_back(layout.along(left, std::vector{0, 2}));
  targets.insert(targets.end(), sources.begin(), sources.end());
  for (std::size_t from = 0; from < sources.size(); ++from) {
    const auto x = distribute(global, sources[from]);
    CHECK(same(x, global));
    for (std::size_t step = from % 5; step < targets.size(); step += 5)
      CHECK(same(ht::detail::brought_to(x, targets[step]), global));
  }
}

TEST_CASE("the ranks along axes of a grid combine the parts of a reduction", "[core][layout]") {
  const ht::Shape domain{5, 3, 4};
  const auto global = numbered(domain);
  const std::vector<std::vector<std::int64_t>> axes_sets{{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}};
  for (const auto& layout : every_grid(domain)) {
    const auto x = distribute(global, layout);
    if (!layout.is_grid()) continue;
    for (const auto& axes : axes_sets) {
      const auto group = ht::detail::group_along(x, axes);
      int along = 1;
      for (const auto axis : axes) along *= layout.grid()[static_cast<std::size_t>(axis)];
      CHECK(group.size() == along);
      CHECK(ht::detail::group_along(x, axes) == group);
      auto sums = x.larray().sum(axes, true).contiguous();
      group.allreduce(ht::detail::buffer_of(sums));
      auto expected = global.sum(axes, true);
      for (int axis = 0; axis < 3; ++axis)
        if (std::ranges::find(axes, axis) == axes.end())
          expected = expected.narrow(axis, x.layout().local_offset(rank())[static_cast<std::size_t>(axis)],
                                     x.lshape()[static_cast<std::size_t>(axis)]);
      CHECK(equal({sums.cpu()}, {expected}));
    }
    std::array<std::int64_t, 1> elements{x.larray().numel()};
    ht::detail::group_of_blocks(layout, x.comm()).allreduce(elements);
    CHECK(elements[0] == 60);
  }
}

TEST_CASE("an array on a grid is recut for a function that takes one cut", "[core][redistribute]") {
  const ht::Shape domain{3, 7, 4};
  for (const auto& layout : every_grid(domain)) {
    const auto x = distribute(numbered(domain), layout);
    const auto before = ht::comm_report().redistributions;
    const auto y = ht::detail::one_cut("test", x);
    CHECK(same(y, numbered(domain)));
    CHECK(y.layout() == (layout.is_grid() ? ht::Layout(domain, 1, ranks()) : layout));
    CHECK(ht::comm_report().redistributions - before <= (layout.is_grid() ? 1 : 0));
    if (layout.is_grid() && layout.is_balanced() && layout.grid()[1] < ranks())
      CHECK(ht::comm_report().redistributions - before == 1);
  }
}
