#include "bytes.hpp"

#include <filesystem>

using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// An array to store, and the rank that passes other arguments.
struct Given {
  TempDir dir;
  bool last = ht::world().rank() == ht::world().size() - 1;
  at::Tensor values = counting({6, 4});
  ht::DNDarray x = distribute(values, ht::Layout({6, 4}, 0, ht::world().size()));
};

}  // namespace

TEST_CASE("what ranks say otherwise of a file is an error on all of them, which writes nothing", "[io][alike]") {
  if (ht::world().size() == 1) return;  // nothing differs on one rank
  const Given given;
  const auto& [dir, last, values, x] = given;
  const auto differs = [&](const std::string& text, const auto& call) {
    CHECK_THAT(same_message<ht::ValueError>(call), Contains("got " + text));
    CHECK(dir.names().empty());
  };
  using Options = ht::io::SaveOptions;
  for (const std::string ending : {".h5", ".zarr", ".npy"}) {
    const auto path = dir.path("a" + ending);
    const auto saves = [&](const Options& usual, const Options& other) {
      return [&, usual, other] { ht::io::save(x, path, last ? other : usual); };
    };
    differs("chunks (1, 1) on rank 0 and (2, 2) on rank", saves({.chunks = {1, 1}}, {.chunks = {2, 2}}));
    differs("compression 4 on rank 0 and zstd", saves({.compression = 4}, {.compression = "zstd"}));
    differs("dataset \"\" on rank 0 and \"b\" on rank", saves({}, {.dataset = "b"}));
    differs("append false on rank 0 and true on rank", saves({}, {.append = true}));
    differs("path \"", [&] { ht::io::save(x, dir.path(last ? "b.csv" : "a" + ending)); });
  }
  differs("chunks (1, 1) on rank 0", [&] { ht::io::save_zarr(x, dir.path("a.zarr"), {.chunks = {last ? 2 : 1, 1}}); });
  differs("dataset \"d\" on rank 0 and \"e\"", [&] { ht::io::save_hdf5(x, dir.path("a.h5"), last ? "e" : "d"); });
}

TEST_CASE("rows for another array on one rank are an error on all, and none is lost", "[io][alike]") {
  if (ht::world().size() == 1) return;
  const Given given;
  const auto& [dir, last, values, x] = given;
  for (const std::string ending : {".h5", ".zarr"}) {
    const auto path = dir.path("a" + ending);
    ht::io::append_rows(x, path);
    CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::append_rows(x, last ? dir.path("b" + ending) : path); }),
               Contains("[append_rows] got path \""));
    CHECK(same(ht::io::load(path), values));
    CHECK(!fs::exists(dir.path("b" + ending)));
  }
}

TEST_CASE("an array that ranks want to read in other ways is an error on all of them", "[io][alike]") {
  if (ht::world().size() == 1) return;
  const Given given;
  const auto& [dir, last, values, x] = given;
  for (const std::string ending : {".h5", ".zarr", ".npy", ".safetensors"}) {
    const auto path = dir.path("a" + ending);
    ht::io::save(x, path);
    const auto reads = [&](const ht::io::LoadOptions& usual, const ht::io::LoadOptions& other) {
      return same_message<ht::ValueError>([&] { static_cast<void>(ht::io::load(path, last ? other : usual)); });
    };
    CHECK_THAT(reads({}, {.split = 0}), Contains("got split none on rank 0 and 0 on rank"));
    CHECK_THAT(reads({.split = 1}, {.split = 1, .dtype = ht::float64}),
               Contains("got dtype as stored on rank 0 and float64 on rank"));
    CHECK_THAT(reads({}, {.slices = {ht::slice(0, 3)}}), Contains("(6, 4) on rank 0 and (3, 4) on rank"));
    CHECK(same(ht::io::load(path, {.split = 1}), values));
  }
}
