#include "functions.hpp"

#include "../scratch_path.hpp"

#include <c10/core/CPUAllocator.h>

#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/host/threads.hpp>
#include <heatpp/core/rows.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/elementwise/operators.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/statistics/histogram.hpp>
#include <heatpp_io/heatpp_io.hpp>

#include <atomic>
#include <filesystem>

namespace {

/// Every grid of the shape, and layouts in which several ranks hold each block.
std::vector<ht::Layout> grids_of(const ht::Shape& shape) {
  auto layouts = every_grid(shape);
  auto larger = shape;
  larger.push_back(6);
  std::vector<int> axes;
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) axes.push_back(axis);
  for (const auto& layout : every_grid(larger))
    if (auto part = layout.along(shape, axes); part.is_grid() && part.grid_cut().copies() > 1)
      layouts.push_back(std::move(part));
  return layouts;
}

std::vector<at::Tensor> gathered_all(const ht::Arrays& arrays) {
  std::vector<at::Tensor> result;
  for (const auto& x : arrays) result.push_back(gathered(x));
  return result;
}

/// Compares the results over all grids with those of an array that every rank holds.
void compare_over_grids(const at::Tensor& global, const std::vector<Function>& functions) {
  const auto layouts = grids_of({global.sizes().begin(), global.sizes().end()});
  for (const auto& [name, of] : functions) {
    const auto expected = gathered_all(of(on_all(global)));
    for (const auto& layout : layouts) {
      INFO(name << " on " << ht::detail::layout_text(layout));
      const auto x = distribute(global, layout);
      ht::Arrays results;
      CHECK_NOTHROW(results = of(x));
      CHECK(results.size() == expected.size());
      for (std::size_t i = 0; i < results.size(); ++i) CHECK(close(results[i], expected[i], 1e-10));
      CHECK(same(x, global));
    }
  }
}

at::Tensor some_numbers() { return at::sin(at::arange(60, at::kDouble) * 1.7).mul(9).add(0.25).view({5, 3, 4}); }

at::Tensor some_matrix() {
  const auto rows = at::sin(at::arange(49, at::kDouble) * 1.3).view({7, 7});
  return rows.mm(rows.t()).add(at::eye(7, at::kDouble));
}

}  // namespace

TEST_CASE("functions that take grids give what they give on one rank", "[grids]") {
  compare_over_grids(some_numbers(), native_functions());
}

TEST_CASE("functions that recut grids give what they give on one rank", "[grids]") {
  compare_over_grids(some_numbers(), recutting_functions());
}

TEST_CASE("functions of matrices on grids give what they give on one rank", "[grids]") {
  compare_over_grids(some_matrix(), matrix_functions());
}

TEST_CASE("statistics of a host's bricks send no element", "[grids][blocks]") {
  const ht::Shape shape{100, 64, 67};  // more than is copied at once
  const auto layout = ht::Layout::on_grid(shape, ht::balanced_grid, ranks());
  const ht::Brick mine{layout.local_offset(rank()), layout.local_shape(rank())};
  const auto global = numbered(shape, at::kFloat);
  auto memory = memory_of(mine, 1, at::kFloat, global);
  const ht::BlockPlan plan(shape, {mine}, ht::float32, {.ghosts = {1}});
  const auto x = ht::adopt_blocks(memory.data_ptr(), plan);
  const auto before = ht::comm_report();

  const auto mean = ht::mean(x), spread = ht::std(x), largest = ht::max(x);
  const auto counts = ht::histogram(x, 16).first;

  const auto after = ht::comm_report();
  CHECK(after.redistributions == before.redistributions);
  CHECK(after.bytes - before.bytes <= 1024);  // sums, ends and counts
  CHECK(close(mean, global.to(at::kDouble).mean().to(at::kFloat), 1e-6));
  CHECK(close(spread, global.to(at::kDouble).std(/*unbiased=*/false).to(at::kFloat), 1e-6));
  CHECK(same(largest, global.max()));
  CHECK(same(counts, gathered(ht::histogram(on_all(global), 16).first)));
  CHECK(ht::sum(counts).item<std::int64_t>() == global.numel());
  CHECK(close(ht::kurtosis(x), gathered(ht::kurtosis(on_all(global))), 1e-6));
  memory.masked_fill_(memory == 500.0F, NAN);
  CHECK(std::isnan(ht::mean(x).item<double>()));
  CHECK(std::isnan(ht::max(x).item<double>()));
  CHECK_THROWS_AS(ht::histogram(x, 16), ht::ValueError);
}

namespace {

/// Counts the bytes of tensors that are made while it exists.
class CountedTensors final : public c10::Allocator {
 public:
  CountedTensors() { c10::SetCPUAllocator(this, most); }
  ~CountedTensors() override { c10::SetCPUAllocator(kept_, most); }
  CountedTensors(const CountedTensors&) = delete;
  CountedTensors& operator=(const CountedTensors&) = delete;

  at::DataPtr allocate(std::size_t bytes) override {
    bytes_ += static_cast<std::int64_t>(bytes);
    return kept_->allocate(bytes);
  }
  [[nodiscard]] at::DeleterFnPtr raw_deleter() const override { return kept_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { kept_->copy_data(to, from, bytes); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  static constexpr std::uint8_t most = 255;
  c10::Allocator* kept_ = c10::GetCPUAllocator();
  std::atomic<std::int64_t> bytes_ = 0;
};

}  // namespace

TEST_CASE("several threads read a host's bricks where they lie", "[grids][blocks]") {
  const ht::Shape shape{160, 64, 96};
  const auto layout = ht::Layout::on_grid(shape, ht::balanced_grid, ranks());
  const ht::Brick mine{layout.local_offset(rank()), layout.local_shape(rank())};
  const auto global = at::sin(numbered(shape));
  auto memory = memory_of(mine, 1, at::kDouble, global);
  const auto x = ht::adopt_blocks(memory.data_ptr(), ht::BlockPlan(shape, {mine}, ht::float64, {.ghosts = {1}}));
  const auto whole = on_all(global);
  for (const int threads : {1, 2, 3, 5}) {
    const ht::detail::ThreadsInScope scope(threads);
    {
      const CountedTensors counted;
      CHECK(close(ht::mean(x), global.mean(), 1e-12));
      CHECK(close(ht::var(x), global.var(/*unbiased=*/false), 1e-12));
      CHECK(close(ht::kurtosis(x), gathered(ht::kurtosis(whole)), 1e-10));
      CHECK(counted.bytes() < 4 * size_of(mine.shape));  // results, and the sums of the whole array beside them
    }
    const CountedTensors counted;
    const auto counts = ht::histogram(x, {.bins = 16, .range = ht::HistogramRange(-1.0, 1.0)}).first;
    CHECK(counted.bytes() < 4 * size_of(mine.shape));
    CHECK(same(counts, gathered(ht::histogram(whole, {.bins = 16, .range = ht::HistogramRange(-1.0, 1.0)}).first)));
  }
}

TEST_CASE("results on grids keep the cuts that stay", "[grids]") {
  if (ranks() != 4) return;
  const auto x = distribute(some_numbers(), ht::Layout::on_grid({5, 3, 4}, {2, 1, 2}, 4));
  CHECK(ht::sum(x, 1).grid() == Along{2, 2});
  CHECK(ht::sum(x, 0).grid() == Along{1, 2});
  CHECK(ht::mean(x, {.axis = 0, .keepdims = true}).grid() == Along{1, 1, 2});
  CHECK_FALSE(ht::sum(x).split().has_value());
  CHECK((x + 1).layout() == x.layout());
  CHECK((x - ht::mean(x, 0)).layout() == x.layout());
  CHECK(x(ht::slice(1, 4)).grid() == x.grid());
  CHECK(x(2).grid() == Along{1, 2});
  CHECK((x + distribute(some_numbers(), ht::Layout({5, 3, 4}, std::nullopt, 4))).layout() == x.layout());
  // The operand that moves is the one of fewer bytes.
  const auto narrow = distribute(some_numbers().to(at::kFloat), ht::Layout({5, 3, 4}, 1, 4));
  CHECK((x + narrow).layout() == x.layout());
  CHECK((narrow + x).layout() == x.layout());
}

TEST_CASE("rows and files of arrays on grids", "[grids][io]") {
  const auto global = some_matrix();
  const auto path = scratch_path("grids");
  for (const auto& layout : grids_of({7, 7})) {
    const auto x = distribute(global, layout);
    const ht::Rows rows(x);
    CHECK(rows.size() == 7);
    CHECK(at::equal(rows.read(0, rows.count()), global.narrow(0, rows.first(), rows.count())));
    for (const char* const ending : {".npy", ".h5", ".zarr"}) {
      INFO(ending);
      ht::io::save(x, path + ending);
      CHECK(close(ht::io::load(path + ending), global));
    }
  }
  if (rank() == 0)
    for (const char* const ending : {".npy", ".h5", ".zarr"}) std::filesystem::remove_all(path + ending);
}
