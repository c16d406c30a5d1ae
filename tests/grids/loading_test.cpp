#include "../core/bricks.hpp"
#include "../core/grids.hpp"

#include "../io/files.hpp"

#include <heatpp/core/detail/cuts/node_cells.hpp>
#include <heatpp/ops/operands/index.hpp>

#include <heatpp_io/heatpp_io.hpp>

#include <filesystem>
#include <fstream>

namespace {

void check_loaded(const at::Tensor& global, const std::function<ht::DNDarray(const ht::Grid&)>& load) {
  for (const auto& along : factorings(static_cast<std::size_t>(global.dim()), ranks())) {
    const ht::Grid grid(along);
    INFO(to_string(grid));
    const auto x = load(grid);
    CHECK(x.layout() == ht::detail::layout_on_grid(x.shape(), grid, ht::world()));
    CHECK(same(x, global));
  }
  const auto x = load(ht::balanced_grid);
  CHECK(x.layout() == ht::detail::layout_on_grid(x.shape(), ht::balanced_grid, ht::world()));
  CHECK(same(x, global));
}

}  // namespace

TEST_CASE("files of every format are loaded on grids", "[grids][io]") {
  const TempDir dir;
  const auto global = counting({13, 9, 10});
  const auto x = distribute(global, ht::Layout({13, 9, 10}, 0, ranks()));
  for (const bool by_first : {true, false}) {
    read_small_by_first(by_first);
    for (const char* const ending : {".h5", ".nc", ".zarr", ".npy", ".npz", ".safetensors"}) {
      INFO(ending << (by_first ? ", read by rank 0" : ", read by all"));
      const auto path = dir.path(std::string("x") + ending);
      if (!by_first && std::string(ending) == ".npz") ht::io::save(x, path, {.compression = 1});
      else ht::io::save(x, path, {.dataset = std::string(ending) == ".npy" ? "" : "x"});
      check_loaded(global, [&](const ht::Grid& grid) { return ht::io::load(path, {.grid = grid}); });
      check_loaded(global.slice(0, 1, 12, 2).slice(1, 2, 9), [&](const ht::Grid& grid) {
        return ht::io::load(path, {.grid = grid, .slices = {ht::Slice(1, 12, 2), ht::Slice(2, 9)}});
      });
      check_loaded(global.to(at::kDouble),
                   [&](const ht::Grid& grid) { return ht::io::load(path, {.grid = grid, .dtype = ht::float64}); });
    }
  }
}

TEST_CASE("chunks, compressed or not, are loaded on grids", "[grids][io]") {
  const TempDir dir;
  read_small_by_first(false);
  const auto global = counting({12, 10, 8});
  const auto x = distribute(global, ht::Layout({12, 10, 8}, 0, ranks()));
  for (const auto& chunks : {ht::Shape{12, 10, 8}, ht::Shape{6, 5, 4}, ht::Shape{1, 1, 8}, ht::Shape{5, 3, 2}})
    for (const bool compressed : {false, true}) {
      const auto path = dir.path("chunks.h5");
      ht::io::SaveOptions options{.dataset = "x", .chunks = chunks};
      if (compressed) options.compression = 1;
      ht::io::save(x, path, options);
      check_loaded(global, [&](const ht::Grid& grid) { return ht::io::load_hdf5(path, "x", {.grid = grid}); });
      check_loaded(global, [&](const ht::Grid& grid) {
        return ht::io::load_hdf5(path, "x", {.grid = grid, .collective = true});
      });
    }
}

TEST_CASE("each rank reads its box unless it would read much more", "[grids][io]") {
  if (ranks() != 4) return;
  const TempDir dir;
  read_small_by_first(false);
  const auto path = dir.path("boxes.h5");
  const auto x = ht::ones({64, 64, 64}, {.split = 0});
  const auto reason = [&](const ht::Shape& chunks, const ht::Grid& grid) {
    ht::io::SaveOptions options{.dataset = "x", .chunks = chunks};
    if (!chunks.empty()) options.compression = 1;
    ht::io::save(x, path, options);
    static_cast<void>(ht::io::load_hdf5(path, "x", {.grid = grid}));
    return ht::io::io_report().reason;
  };
  CHECK(reason({}, {2, 2, 1}) == "independent: each rank reads its box");
  CHECK(reason({32, 32, 64}, {2, 2, 1}) == "independent: each rank reads its box");
  CHECK_THAT(reason({64, 64, 4}, {2, 2, 1}), Catch::Contains("rows recut to the grid"));
}

TEST_CASE("text files are loaded on grids", "[grids][io]") {
  const TempDir dir;
  const auto path = dir.path("x.csv");
  const auto global = counting({11, 6});
  ht::io::save_csv(distribute(global, ht::Layout({11, 6}, 0, ranks())), path);
  check_loaded(global, [&](const ht::Grid& grid) { return ht::io::load_csv(path, {.grid = grid}); });
  CHECK_THAT(same_message<ht::ValueError>([&] {
               return ht::io::load_csv(path, {.split = 0, .grid = {ranks(), 1}});
             }),
             Catch::Contains("[load_csv] got split 0 and grid ("));
  CHECK_THAT(same_message<ht::ValueError>([&] {
               return ht::io::load_csv(path, {.grid = {ranks(), 2}});
             }),
             Catch::Contains("on " + std::to_string(ranks()) + " ranks"));
  if (ranks() == 1) return;
  const ht::Grid differs = rank() == 0 ? ht::Grid{ranks(), 1} : ht::Grid{1, ranks()};
  CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::load_csv(path, {.grid = differs}); }),
             Catch::Contains("got grid ("));
}

TEST_CASE("bricks are loaded into memory by a plan on a grid", "[grids][io][blocks]") {
  const TempDir dir;
  const auto path = dir.path("bricks.h5");
  const ht::Shape shape{12, 10, 8};
  const auto global = counting(shape);
  ht::io::save(distribute(global, ht::Layout(shape, 0, ranks())), path, {.dataset = "x", .chunks = {6, 5, 4}});
  const auto mine = dealt(cut(shape, {2, 2, 1}), 0, 1);
  const ht::BlockPlan plan(shape, mine, ht::float32, {.grid = ht::balanced_grid, .ghosts = {1}});
  std::vector<at::Tensor> memory;
  for (const auto& brick : mine) memory.push_back(memory_of(brick, 1, at::kFloat));
  ht::io::load_blocks(path, plan, std::span<const at::Tensor>(memory));
  for (std::size_t i = 0; i < mine.size(); ++i) CHECK(equals(memory[i], memory_of(mine[i], 1, at::kFloat, global)));
  CHECK_THROWS_AS(ht::io::load_blocks(path, plan, std::span<const at::Tensor>(memory), {.grid = {ranks(), 1, 1}}),
                  ht::ValueError);
}
