#include "bytes.hpp"

namespace {

using ht::io::NetcdfFormat;

/// Returns a layout in which ranks have unequal blocks, the first one none.
ht::Layout uneven(const ht::Shape& shape, int axis) {
  const auto extent = shape[static_cast<std::size_t>(axis)];
  const auto ranks = ht::world().size();
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(ranks) + 1, 0);
  for (int rank = 2; rank <= ranks; ++rank)
    offsets[static_cast<std::size_t>(rank)] = extent * rank * rank / ranks / ranks;
  offsets.back() = extent;
  return {shape, axis, offsets};
}

}  // namespace

// (2, 160, 4096) and (1, ...) float64 are written run by run; the others are assembled to rows.
TEST_CASE("arrays that are cut along a later axis are written in long runs and in short ones", "[io][runs]") {
  const TempDir dir;
  for (const ht::Shape& shape : {ht::Shape{2, 160, 4096}, ht::Shape{1, 9, 4}, ht::Shape{1, 1, 7}, ht::Shape{3, 2, 5}}) {
    const auto values = counting(shape, at::kDouble);
    for (const int axis : {1, 2})
      for (const auto& layout : {ht::Layout(shape, axis, ht::world().size()), uneven(shape, axis)}) {
        INFO(heatpp::to_string(shape) << " cut along " << axis);
        const auto x = distribute(values, layout);
        for (const auto* name : {"a.npy", "a.npz", "a.safetensors", "a.h5", "a.zarr"}) {
          ht::io::save(x, dir.path(name));
          CHECK(same(ht::io::load(dir.path(name)), values));
        }
        ht::io::save(x, dir.path("b.h5"), {.collective = false});
        CHECK(same(ht::io::load(dir.path("b.h5")), values));
        ht::io::save_npz({{"x", x}}, dir.path("b.npz"), {.compression = 1});
        CHECK(same(ht::io::load(dir.path("b.npz")), values));
      }
  }
}

TEST_CASE("chunks of Zarr come from the ranks that have them along any axis", "[io][runs]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  const auto values = counting({5, 12, 3}, at::kInt);
  for (const auto& layout : every_layout({5, 12, 3}))
    for (const ht::Shape& chunks : {ht::Shape{5, 2, 3}, ht::Shape{1, 5, 1}, ht::Shape{2, 12, 3}, ht::Shape{9, 50, 2}}) {
      ht::io::save_zarr(distribute(values, layout), path, {.chunks = chunks});
      CHECK(same(ht::io::load_zarr(path), values));
    }
}

TEST_CASE("each rank writes HDF5's uncompressed chunks independently if asked", "[io][runs]") {
  const TempDir dir;
  const auto values = counting({9, 8});
  for (const auto& layout : every_layout({9, 8})) {
    ht::io::save(distribute(values, layout), dir.path("a.h5"), {.chunks = {4, 3}, .collective = false});
    CHECK_FALSE(ht::io::io_report().collective);
    CHECK(same(ht::io::load(dir.path("a.h5")), values));
  }
}
