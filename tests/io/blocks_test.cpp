#include "../core/bricks.hpp"
#include "files.hpp"

using Catch::StartsWith;

namespace {

/// Writes a file, and reads it into memory with ghost cells.
void check_through(const std::string& path, const ht::BlockPlan& plan, const std::vector<ht::Brick>& mine,
                   const at::Tensor& global, const ht::io::SaveOptions& options) {
  std::vector<at::Tensor> filled, blocks;
  for (const auto& brick : mine) {
    filled.push_back(memory_of(brick, 1, global.scalar_type(), global));
    blocks.push_back(memory_of(brick, 1, global.scalar_type()));
  }
  INFO(path);
  ht::io::save_blocks(plan, filled, path, options);
  CHECK(same(ht::io::load(path), global));
  ht::io::load_blocks(path, plan, blocks);
  for (std::size_t i = 0; i < mine.size(); ++i) CHECK(equals(blocks[i], filled[i]));
}

}  // namespace

TEST_CASE("bricks go through files of every format", "[io][blocks]") {
  const TempDir dir;
  const ht::Shape shape{7, 6, 5};
  const auto global = numbered(shape);
  int file = 0;
  for (const auto& parts : std::vector<std::vector<std::int64_t>>{{1, 1, ranks()}, {2, 2, 2}, {1, 3, 1}})
    for (const std::optional<int> split : {std::optional(0), std::optional(2), std::optional<int>()}) {
      const auto mine = dealt(cut(shape, parts), 0, 1);
      const ht::BlockPlan plan(shape, mine, ht::float64, {.split = split, .ghosts = {1}});
      const auto next = [&](const std::string& end) { return dir.path(std::to_string(file++) + end); };
      check_through(next(".h5"), plan, mine, global, {});
      check_through(next(".h5"), plan, mine, global, {.dataset = "field", .compression = 1, .chunks = {3, 4, 2}});
      check_through(next(".zarr"), plan, mine, global, {.chunks = {2, 3, 4}});
      check_through(next(".zarr"), plan, mine, global, {.compression = 1});
      check_through(next(".npy"), plan, mine, global, {});
    }
}

TEST_CASE("bricks of a part of a file, of another dtype, by addresses", "[io][blocks]") {
  const TempDir dir;
  const auto whole = numbered({9, 4 * ranks()}, at::kInt);
  const auto path = dir.path("whole.h5");
  ht::io::save(distribute(whole, ht::Layout({9, 4 * ranks()}, 1, ranks())), path);
  const ht::Brick mine{{0, 4 * rank()}, {4, 4}};
  const ht::BlockPlan plan({4, 4 * ranks()}, {mine}, ht::float32, {.split = 1, .ghosts = {1}});
  auto memory = memory_of(mine, 1, at::kFloat);
  ht::io::load_blocks(path, plan, memory.data_ptr<float>(), {.dataset = "data", .slices = {ht::Slice(1, 9, 2)}});
  const auto part = whole.slice(0, 1, 9, 2).to(at::kFloat);
  CHECK(equals(memory, memory_of(mine, 1, at::kFloat, part)));
  ht::io::save_blocks(plan, memory.const_data_ptr<float>(), dir.path("part.npy"));
  CHECK(same(ht::io::load(dir.path("part.npy")), part));
}

TEST_CASE("bricks that are long runs in a file are read in place", "[io][blocks][large]") {
  const TempDir dir;
  const ht::Shape shape{6, 8, 4096};
  const auto global = numbered(shape);
  const std::vector<std::string> shards{dir.path("a.h5"), dir.path("b.h5"), dir.path("c.h5")};
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const auto part = global.narrow(0, 2 * static_cast<std::int64_t>(i), 2);
    ht::io::save(distribute(part, ht::Layout({2, 8, 4096}, 0, ranks())), shards[i]);
  }
  ht::io::save(distribute(global, ht::Layout(shape, 0, ranks())), dir.path("all.npy"));
  const auto read = [&](const ht::io::Source& source, const std::vector<std::int64_t>& parts, const at::Tensor& wanted,
                        std::int64_t ghosts, const ht::io::LoadOptions& options) {
    // Some ranks have several bricks. If there are more ranks than bricks, some have none.
    const auto mine = dealt(cut(wanted.sizes().vec(), parts), 1, 1);
    const ht::BlockPlan plan(wanted.sizes().vec(), mine, ht::float32, {.ghosts = {ghosts}});
    std::vector<at::Tensor> blocks;
    for (const auto& brick : mine) blocks.push_back(memory_of(brick, ghosts, at::kFloat));
    ht::io::load_blocks(source, plan, blocks, options);
    for (std::size_t i = 0; i < mine.size(); ++i)
      CHECK(equals(blocks[i], memory_of(mine[i], ghosts, at::kFloat, wanted)));
    return ht::io::io_report();
  };
  for (const std::int64_t ghosts : {0, 2})
    for (const auto& parts : std::vector<std::vector<std::int64_t>>{{ranks(), 1, 1}, {2, 1, 1}, {1, 3, 1}, {3, 2, 1}}) {
      INFO("ghosts " << ghosts << ", parts " << parts[0] << " x " << parts[1]);
      for (const ht::io::Source& source : {ht::io::Source(shards), ht::io::Source(dir.path("all.npy"))}) {
        CHECK(read(source, parts, global, ghosts, {}).reason == "independent: each rank reads its bricks");
        const auto report = read(source, parts, global.narrow(0, 1, 4), ghosts, {.slices = {ht::Slice(1, 5)}});
        CHECK(report.reason == "independent: each rank reads its bricks");
      }
    }
  // Bricks would read every row at least twice, so ranks read an array and exchange it.
  CHECK(read(shards, {1, 1, 512}, global, 0, {}).operation != "load_blocks");
}

TEST_CASE("files that do not fit bricks are an error on all ranks", "[io][blocks]") {
  const TempDir dir;
  const auto path = dir.path("a.npy");
  ht::io::save(ht::ones({4, 6}, {.split = 0}), path);
  const auto mine = dealt(cut({4, 5}, {2, 2}), 0, 1);
  const ht::BlockPlan plan({4, 5}, mine, ht::float32);
  std::vector<at::Tensor> blocks;
  for (const auto& brick : mine) blocks.push_back(memory_of(brick, 0, at::kFloat));
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::load_blocks(path, plan, blocks); }),
             StartsWith("[to_blocks] got an array of shape (4, 6); expected (4, 5)"));
  for (const auto& block : blocks) CHECK(each_is(block, ghost));
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::load_blocks(path, plan, blocks, {.split = 1}); }),
             StartsWith("[load_blocks] got a split in the options; expected none, since the plan has it"));
  const bool odd = rank() == ranks() - 1;  // this rank differs
  CHECK_THROWS_AS(ht::io::load_blocks(path, plan, blocks, {.dtype = odd ? std::optional(ht::float64) : std::nullopt}),
                  ht::Error);
  CHECK_THROWS_AS(ht::io::load_blocks(dir.path("b.npy"), plan, blocks), ht::IoError);
  CHECK_THROWS_AS(ht::io::save_blocks(plan, blocks, dir.path("nowhere/a.h5")), ht::IoError);
}
