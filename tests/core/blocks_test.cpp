#include "bricks.hpp"

namespace {

/// Moves from bricks to every split, and back from every layout.
void check_both_ways(const at::Tensor& global, const std::vector<ht::Brick>& mine, std::int64_t ghosts) {
  const ht::Shape shape(global.sizes().begin(), global.sizes().end());
  const auto dtype = ht::from_local(global).dtype();
  std::vector<at::Tensor> filled;
  for (const auto& brick : mine) filled.push_back(memory_of(brick, ghosts, global.scalar_type(), global));
  for (int split = -1; split < std::ssize(shape); ++split) {
    const auto wanted = split < 0 ? std::nullopt : std::optional(split);
    const ht::BlockPlan plan(shape, mine, dtype, {.split = wanted, .ghosts = {ghosts}});
    const auto x = plan.from_blocks(filled);
    CHECK(same(x, global));
    CHECK(x.layout() == ht::Layout(shape, wanted, ranks()));
    for (const auto& layout : every_layout(shape)) {
      std::vector<at::Tensor> blocks;
      for (const auto& brick : mine) blocks.push_back(memory_of(brick, ghosts, global.scalar_type()));
      plan.to_blocks(distribute(global, layout), blocks);
      for (std::size_t i = 0; i < mine.size(); ++i) CHECK(equals(blocks[i], filled[i]));
    }
  }
}

}  // namespace

TEST_CASE("bricks cut along any axes become an array of any split, and back", "[blocks]") {
  const ht::Shape shape{7, 6, 5};
  for (const auto& parts : std::vector<std::vector<std::int64_t>>{
           {1, 1, 1}, {ranks(), 1, 1}, {1, 1, ranks()}, {1, 2, (ranks() + 1) / 2}, {2, 2, 2}, {3, 1, 2}})
    for (const std::int64_t ghosts : {0, 2}) {
      const auto bricks = cut(shape, parts);
      check_both_ways(numbered(shape), dealt(bricks, 0, 1), ghosts);
      check_both_ways(numbered(shape), dealt(bricks, ranks() - 1, 0), ghosts);
    }
}

TEST_CASE("bricks of every dtype and number of axes", "[blocks]") {
  for (const auto type : {at::kFloat, at::kLong, at::kBool, at::kChar, at::kComplexDouble, at::kHalf})
    check_both_ways(numbered({6, 9}, type), dealt(cut({6, 9}, {3, 3}), 1, 1), 1);
  check_both_ways(numbered({11}), dealt(cut({11}, {5}), 0, 1), 3);
  check_both_ways(numbered({2, 3, 2, 3, 2}), dealt(cut({2, 3, 2, 3, 2}, {1, 2, 1, 2, 2}), 0, 1), 0);
  check_both_ways(numbered({0, 4}), dealt(cut({0, 4}, {1, 2}), 0, 1), 1);
  check_both_ways(numbered({}), dealt({{{}, {}}}, 0, 1), 0);
}

TEST_CASE("a rank's one block in memory of the host's", "[blocks]") {
  const ht::Shape shape{5, 4 * ranks()};
  const auto global = numbered(shape, at::kFloat);
  const ht::Brick mine{{0, 4 * rank()}, {5, 4}};
  auto memory = memory_of(mine, 1, at::kFloat, global);
  const auto x =
      ht::from_blocks(memory.const_data_ptr<float>(), {7, 6}, ht::float32, mine.offset, shape, {.ghosts = {1}});
  CHECK(same(x, global));
  CHECK(x.split() == 0);
  auto back = memory_of(mine, 1, at::kFloat);
  ht::to_blocks(distribute(global + 1, x.layout()), back.data_ptr<float>(), {7, 6}, mine.offset, {.ghosts = {1}});
  CHECK(equals(back, memory_of(mine, 1, at::kFloat, global + 1)));
  // In this memory the first axis is the fastest, and one axis alone has ghosts.
  const auto fortran = memory.narrow(0, 1, 5).t().contiguous().t();
  CHECK(same(ht::from_blocks(fortran, mine.offset, shape, {.split = 1, .ghosts = {0, 1}}), global));
  const auto written = fortran.clone();
  ht::to_blocks(ht::zeros(shape), written, mine.offset, {.ghosts = {0, 1}});
  CHECK(each_is(written.narrow(1, 1, 4), 0));
  CHECK(equals(written.select(1, 0), fortran.select(1, 0)));
}

TEST_CASE("bricks that LibTorch conjugates when it reads them, and that have gradients", "[blocks]") {
  const ht::Shape shape{2 * ranks(), 3};
  const ht::Brick mine{{2 * rank(), 0}, {2, 3}};
  const auto imaginary = at::complex(numbered(shape), numbered(shape));
  const auto conjugated = memory_of(mine, 0, at::kComplexDouble, imaginary).conj();
  CHECK(same(ht::from_blocks(conjugated, mine.offset, shape, {.split = 1}), imaginary.conj().resolve_conj()));
  ht::to_blocks(distribute(imaginary, ht::Layout(shape, 1, ranks())), conjugated, mine.offset);
  CHECK(equals(conjugated.resolve_conj(), part_of(imaginary, mine)));
  const auto parameters = memory_of(mine, 0, at::kDouble, numbered(shape)).requires_grad_();
  CHECK(same(ht::from_blocks(parameters, mine.offset, shape, {.split = 1}), numbered(shape)));
}

TEST_CASE("bricks with ghost cells on some sides only", "[blocks]") {
  const ht::Shape shape{5, 3 * ranks()};
  const auto global = numbered(shape);
  const std::int64_t left = rank() > 0 ? 2 : 0, right = rank() + 1 < ranks() ? 1 : 0;  // no ghosts at the edges
  const ht::Brick mine{{0, 3 * rank()}, {5, 3}, {0, left}, {0, right}};
  const auto memory = [&](const at::Tensor& inside) {
    auto made = at::full({5, left + 3 + right}, ghost, at::kDouble);
    made.narrow(1, left, 3).copy_(inside);
    return made;
  };
  const auto filled = memory(part_of(global, mine));
  const ht::BlockPlan plan(shape, {mine}, ht::float64, {.split = 1, .ghosts = {4}});

  const auto x = plan.from_blocks(filled.const_data_ptr());
  auto back = memory(at::zeros({5, 3}));
  plan.to_blocks(distribute(global, ht::Layout(shape, 0, ranks())), back.data_ptr());

  CHECK(same(x, global));
  CHECK(equals(back, filled));
  const ht::BlockPlan before({5, 3 * ranks()}, {{mine.offset, mine.shape, {2, 1}, {}}}, ht::float64, {.ghosts = {2}});
  CHECK(message_of<ht::ValueError>([&] { (void)before.from_blocks(std::span(&filled, 1)); }).find("(9, 6)") !=
        std::string::npos);
  for (const auto& wrong : {ht::Shape{1}, ht::Shape{0, -1}})
    CHECK_THAT(message_of<ht::ValueError>([&] {
                 ht::BlockPlan(shape, {{mine.offset, mine.shape, rank() == 0 ? wrong : ht::Shape{}, {}}}, ht::float64);
               }),
               Catch::Contains("got ghosts " + ht::to_string(wrong) + " of a brick with 2 axes"));
}

TEST_CASE("bricks on another communicator, in another order of its ranks", "[blocks]") {
  const auto reversed = *ht::world().split(0, -rank());
  const auto global = numbered({3, 2 * ranks()});
  const ht::Brick mine{{0, 2 * rank()}, {3, 2}};
  const auto x =
      ht::from_blocks(memory_of(mine, 0, at::kDouble, global), mine.offset, {3, 2 * ranks()}, {.comm = reversed});
  CHECK(x.comm().same_ranks(reversed));
  CHECK(same(x, global));
  auto back = memory_of(mine, 0, at::kDouble);
  ht::to_blocks(x, back, mine.offset);
  CHECK(equals(back, memory_of(mine, 0, at::kDouble, global)));
}

TEST_CASE("a plan sends only elements that change their rank", "[blocks]") {
  const auto n = ranks();
  const ht::BlockPlan plan({n, n}, {{{0, rank()}, {n, 1}}}, ht::float64);
  CHECK(plan.bytes_sent() == 8 * (n - 1));
  const ht::BlockPlan stays({n, n}, {{{0, rank()}, {n, 1}}}, ht::float64, {.split = 1});
  CHECK(stays.bytes_sent() == 0);
}

TEST_CASE("bricks that do not fit are errors on all ranks", "[blocks]") {
  using Bricks = std::vector<ht::Brick>;
  const auto n = ranks();
  const ht::Shape shape{n, 4};
  const ht::Brick mine{{rank(), 0}, {1, 4}};
  const bool last = rank() == n - 1;
  const auto error = [&](const Bricks& bricks, const ht::BlockOptions& options = {}, const ht::Shape& whole = {}) {
    return message_of<ht::Error>([&] { ht::BlockPlan(whole.empty() ? shape : whole, bricks, ht::float32, options); });
  };
  CHECK(error({mine}).empty());
  CHECK(error(last ? Bricks{} : Bricks{mine}) == "[from_blocks] got bricks of " + std::to_string(4 * (n - 1)) +
                                                     " cells in all; expected the " + std::to_string(4 * n) +
                                                     " of shape " + ht::to_string(shape));
  CHECK(error(last ? Bricks{mine, {{0, 3}, {1, 1}}} : Bricks{mine}).find("which overlap") != std::string::npos);
  CHECK(error({last ? ht::Brick{{rank(), 1}, {1, 4}} : mine})
            .find("[from_blocks] got a brick of shape (1, 4) at (" + std::to_string(n - 1) +
                  ", 1); expected one inside of shape " + ht::to_string(shape)) == 0);
  CHECK(error({last ? ht::Brick{{rank()}, {1}} : mine}).find("expected one inside") != std::string::npos);
  CHECK(error({mine}, {.split = 2}).find("axis 2") != std::string::npos);
  CHECK(error({mine}, {.ghosts = {-1}}).find("got ghosts (-1,)") != std::string::npos);
  CHECK(error({mine}, {.ghosts = {1, 1, 1}}).find("got ghosts (1, 1, 1)") != std::string::npos);
  if (n > 1) {
    CHECK(error({mine}, {.split = last ? 1 : 0}).find("got the split 0 on some ranks and 1") != std::string::npos);
    CHECK(error({mine}, {.ghosts = {last ? 1 : 0}}).find("ghosts of 0 on some ranks and 1") != std::string::npos);
  }

  const ht::BlockPlan plan(shape, {mine}, ht::float32);
  const std::vector<float> memory(4, 1.0F);
  const void* const none = nullptr;
  CHECK(same(plan.from_blocks(memory.data()), at::ones(shape)));
  CHECK_THROWS_AS(plan.from_blocks(last ? none : memory.data()), ht::ValueError);
  const std::vector<const void*> two(last ? 2 : 1, memory.data());
  CHECK_THROWS_AS(plan.from_blocks(std::span(two)), ht::ValueError);
  auto block = at::zeros({1, 4}), other = at::zeros({1, last ? 5 : 4});
  CHECK_THROWS_AS(plan.from_blocks(std::span(&other, 1)), ht::ValueError);
  CHECK_THROWS_AS(plan.to_blocks(ht::ones({n, 5}), std::span(&block, 1)), ht::ValueError);
  CHECK_THROWS_AS(plan.to_blocks(ht::ones<double>(shape), std::span(&block, 1)), ht::TypeError);
  CHECK_THROWS_AS(ht::from_blocks(last ? nullptr : memory.data(), {1, 4}, ht::float32, mine.offset, shape),
                  ht::ValueError);
  plan.to_blocks(ht::ones(shape, {.split = 1}), std::span(&block, 1));
  CHECK(each_is(block, 1));
}
