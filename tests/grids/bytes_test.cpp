#include "functions.hpp"

#include "../scratch_path.hpp"

#include <heatpp/core/detail/cuts/without_copies.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/ops/elementwise/operators.hpp>
#include <heatpp/ops/indexing/nonzero.hpp>
#include <heatpp/ops/operands/index.hpp>
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

TEST_CASE("a mask over some axes of a grid keeps the other cuts", "[grids]") {
  const ht::Shape shape{24, 20, 16};
  const auto global = numbered(shape);
  const std::vector<at::Tensor> masks{at::arange(24) % 3 == 0, at::arange(20) % 4 == 1, at::arange(16) % 5 < 2};
  for (const auto& layout : every_grid(shape)) {
    INFO(ht::detail::layout_text(layout));
    const auto x = distribute(global, layout);
    const auto counts = 64 * ranks() * ranks();
    for (const int axis : {0, 1, 2}) {
      const auto& flags = masks[static_cast<std::size_t>(axis)];
      std::vector<ht::Index> entries(static_cast<std::size_t>(axis), ht::Index(ht::all_of));
      entries.emplace_back(on_all(flags));
      ht::DNDarray kept, y = ht::copy(x);
      CHECK(bytes_of([&] { kept = x.index(entries); }) <= (layout.is_grid() ? counts : 8 * global.numel()));
      const auto expected = global.index_select(axis, flags.nonzero().flatten());
      CHECK(same(kept, expected));
      if (!layout.is_grid()) continue;
      for (const int other : {0, 1, 2})
        if (other != axis) CHECK(kept.layout().cut_along(other) == layout.cut_along(other));
      CHECK(bytes_of([&] { y.index_put(entries, kept * 2); }) <= counts);
      CHECK(same(y, global.index_copy(axis, flags.nonzero().flatten(), expected * 2)));
    }
    const auto flags = masks[0].unsqueeze(1).logical_xor(masks[1]);
    const auto mask = on_all(flags);
    ht::DNDarray kept, y = ht::copy(x);
    const auto taking = bytes_of([&] { kept = x(mask); }), writing = bytes_of([&] { y.index_put({mask}, kept * 2); });
    CHECK(same(kept, global.index({flags})));
    CHECK(same(y, at::where(flags.unsqueeze(2), global * 2, global)));
    if (!layout.is_grid()) continue;
    const auto segments = 8 * 24 * layout.grid()[1] * layout.grid()[2];
    CHECK(taking <= 8 * kept.size() + segments + counts);
    CHECK(writing <= 8 * kept.size() + segments + counts);
    CHECK(kept.layout().cut_along(1) == layout.cut_along(2));
  }
}

TEST_CASE("writing through a mask on a grid moves only what is written", "[grids]") {
  const ht::Shape shape{24, 20, 16};
  const auto global = numbered(shape);
  for (const auto& layout : every_grid(shape)) {
    if (!layout.is_grid()) continue;
    for (const double least : {7000.0, 500.0, -1.0, 8000.0}) {
      auto x = distribute(global, layout);
      const auto mask = x > least;
      const auto kept = x(mask) * 2;
      const auto bytes = bytes_of([&] { x.index_put({mask}, kept); });
      CHECK(same(x, at::where(global > least, global * 2, global)));
      CHECK(x.layout() == layout);
      CHECK(bytes <= 8 * kept.size() + 8 * 24 * 20 * layout.grid()[2] + 8 * ranks() * ranks());
    }
  }
}

TEST_CASE("the places of few true elements on a grid are sent, and not the mask", "[grids]") {
  const ht::Shape shape{8, 6, 1000};
  const auto global = numbered(shape);
  for (const auto& layout : every_grid(shape)) {
    const auto x = distribute(global, layout);
    for (const double least : {47990.0, 40000.0, 100000.0}) {
      const auto truths = x > least;
      ht::DNDarray places;
      const auto bytes = bytes_of([&] { places = ht::argwhere(truths); });
      CHECK(same(places, (global > least).nonzero()));
      CHECK(places.split() == (ranks() > 1 ? std::optional(0) : std::nullopt));
      CHECK(same(ht::flatnonzero(truths), (global > least).flatten().nonzero().flatten()));
      const auto columns = ht::nonzero(truths);
      CHECK(same(columns[2], (global > least).nonzero().select(1, 2)));
      if (!layout.is_grid()) continue;
      const auto segments = 8 * 8 * (layout.grid()[2] > 1 ? 6 * layout.grid()[2] : layout.grid()[1]);
      const auto all = global.numel() + 16 * ranks() * ranks();
      CHECK(bytes <= std::min(8 * places.shape(0) + segments + 16 * ranks() * ranks(), all));
    }
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
