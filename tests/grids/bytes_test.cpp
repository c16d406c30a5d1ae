#include "functions.hpp"

#include "../scratch_path.hpp"

#include <heatpp/core/detail/cuts/without_copies.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/elementwise/operators.hpp>
#include <heatpp/ops/statistics/histogram.hpp>
#include <heatpp_io/heatpp_io.hpp>

#include <array>
#include <filesystem>
#include <numeric>

namespace {

/// Returns the bytes that all ranks hand to communication in `calls`.
std::int64_t bytes_of(const std::function<void()>& calls) {
  const auto before = ht::comm_report().bytes;
  calls();
  std::array<std::int64_t, 1> bytes{ht::comm_report().bytes - before};
  ht::world().allreduce(bytes);
  return bytes[0];
}

}  // namespace

TEST_CASE("a mask on a grid moves only what it keeps", "[grids]") {
  const ht::Shape shape{24, 20, 16};
  const auto global = numbered(shape);
  for (const auto& layout : every_grid(shape)) {
    const auto x = distribute(global, layout);
    for (const double least : {990.0, 500.0, -1.0, 2000.0}) {
      const auto mask = x > least;
      ht::DNDarray kept;
      const auto bytes = bytes_of([&] { kept = x(mask); });
      CHECK(same(kept, global.masked_select(global > least)));
      if (!layout.is_grid()) continue;
      const auto counts = 8 * 24 * 20 * layout.grid()[2] + 8 * ranks() * ranks();
      CHECK(bytes <= 8 * kept.size() + counts);
    }
    const auto bits = (x > 500).astype(ht::uint8);
    CHECK(same(bits(x > 700), (global > 500).to(at::kByte).masked_select(global > 700)));
    CHECK(same(x(ht::resplit(x > 500, 1)), global.masked_select(global > 500)));
  }
}

/// Layouts in which several ranks hold each block.
static std::vector<ht::Layout> copied_layouts(const ht::Shape& shape) {
  auto larger = shape;
  larger.push_back(6);
  std::vector<int> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::vector<ht::Layout> found;
  for (const auto& layout : every_grid(larger))
    if (auto part = layout.along(shape, axes); part.is_grid() && part.grid_cut().copies() > 1)
      found.push_back(std::move(part));
  return found;
}

TEST_CASE("ranks that hold copies of a block share it in files, bins and bricks", "[grids][io]") {
  const ht::Shape shape{24, 12, 32};
  const auto global = numbered(shape);
  const auto path = scratch_path("copies");
  const auto bins = gathered(ht::histogram(on_all(global), 16).first);
  for (const auto& layout : copied_layouts(shape)) {
    const auto x = distribute(global, layout);
    const auto shared = ht::detail::without_copies(x);
    CHECK(same(shared, global));
    CHECK((!shared.layout().is_grid() || shared.layout().grid_cut().copies() == 1));
    std::array<std::int64_t, 1> held{shared.larray().numel()};
    ht::world().allreduce(held);
    CHECK(held[0] == global.numel());
    for (const char* const ending : {".h5", ".nc", ".zarr"}) {
      INFO(ending << " of " << ht::cut_text(layout));
      const auto bytes = bytes_of([&] { ht::io::save(x, path + ending); });
      CHECK(same(ht::io::load(path + ending), global));
      if (ending != std::string(".zarr") && layout.is_balanced()) CHECK(bytes < 3000 * ranks());
      if (rank() == 0) std::filesystem::remove_all(path + ending);
    }
    const auto before = ht::comm_report().redistributions;
    CHECK(same(ht::histogram(x, 16).first, bins));
    CHECK(ht::comm_report().redistributions == before);
  }
}

TEST_CASE("files of arrays on grids are written where they lie", "[grids][io]") {
  const ht::Shape shape{24, 12, 32};
  const auto global = numbered(shape);
  const auto path = scratch_path("boxes");
  const std::pair<const char*, ht::io::SaveOptions> files[] = {{".h5", {}},
                                                               {".h5", {.chunks = {2, 2, 8}}},
                                                               {".h5", {.compression = 1}},
                                                               {".h5", {.collective = true}},
                                                               {".nc", {}},
                                                               {".nc", {.compression = 1}},
                                                               {".zarr", {}},
                                                               {".zarr", {.chunks = {2, 2, 8}}},
                                                               {".npy", {}}};
  for (const auto& layout : every_grid(shape)) {
    const auto x = distribute(global, layout);
    for (const auto& [ending, options] : files) {
      INFO(ending << " of " << ht::cut_text(layout));
      if (rank() == 0) std::filesystem::remove_all(path + ending);
      const auto bytes = bytes_of([&] { ht::io::save(x, path + ending, options); });
      CHECK(same(ht::io::load(path + ending), global));
      // Even blocks consist of whole chunks. The ranks also compare settings, and agree that there is no error.
      if (ending != std::string(".npy") && layout.is_grid() && layout.is_balanced()) CHECK(bytes < 3000 * ranks());
    }
  }
  if (rank() == 0)
    for (const auto& file : files) std::filesystem::remove_all(path + file.first);
}
