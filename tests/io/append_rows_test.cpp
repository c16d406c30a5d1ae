#include "bytes.hpp"

#include <heatpp/ops/shape/axes_moves.hpp>

#include <chrono>
#include <filesystem>

using Catch::Contains;
namespace fs = std::filesystem;

namespace {

ht::DNDarray cut(const at::Tensor& global, std::optional<int> split) {
  return distribute(global.contiguous(),
                    ht::Layout({global.sizes().begin(), global.sizes().end()}, split, ht::world().size()));
}

/// Rows of three equal numbers: row i holds i.
at::Tensor steps(std::int64_t count) {
  return at::arange(count, at::kLong).repeat_interleave(3).view({-1, 1}).expand({3 * count, 50}).contiguous();
}

}  // namespace

TEST_CASE("rows of every layout are added after the existing ones", "[io][append]") {
  const TempDir dir;
  int count = 0;
  for (const std::string ending : {".zarr", ".h5"})
    for (const auto& first : {ht::io::SaveOptions{}, ht::io::SaveOptions{.compression = "zstd", .chunks = {4, 3}},
                              ht::io::SaveOptions{.chunks = {100, 5}}})
      for (const auto& layout : every_layout({7, 5})) {
        if (ending == ".h5" && !first.chunks.empty() && first.chunks[0] == 100 && count % 3)
          continue;  // these are enough
        const auto path = dir.path("a" + std::to_string(count++) + ending);
        const auto global = counting({18, 5}, at::kDouble);
        ht::io::append_rows(distribute(global.slice(0, 0, 7).contiguous(), layout), path, first);
        CHECK(same(ht::io::load(path, {.split = layout.split()}), global.slice(0, 0, 7).contiguous()));
        ht::io::append_rows(distribute(global.slice(0, 7, 14).contiguous(), layout), path);
        ht::io::append_rows(cut(global.slice(0, 14, 14), 0), path);
        ht::io::append_rows(cut(global.slice(0, 14, 18), 1), path);
        CHECK(same(ht::io::load(path, {.split = layout.split()}), global));
        CHECK(same(ht::io::load(path), global));
      }
}

TEST_CASE("an array that begins without rows, and arrays beside another", "[io][append]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  const auto global = counting({6, 2}, at::kInt);
  ht::io::save(cut(global, 0), path, {.dataset = "before"});
  for (std::int64_t row = 0; row < 6; ++row) {
    ht::io::append_rows(cut(global.slice(0, row, row), 0), path, {.dataset = "run/x"});
    ht::io::append_rows(cut(global.slice(0, row, row + 1), 1), path, {.dataset = "run/x"});
    ht::io::append_rows(cut(global.slice(0, row, row), 1), dir.path("a.zarr"));
    ht::io::append_rows(cut(global.slice(0, row, row + 1), 0), dir.path("a.zarr"));
  }
  CHECK(same(ht::io::load(dir.path("a.zarr"), {.split = 1}), global));
  CHECK(same(ht::io::load(path, {.dataset = "run/x"}), global));
  CHECK(same(ht::io::load(path, {.dataset = "before", .split = 0}), global));
  // An array that save made so that it can grow.
  ht::io::save(cut(global, 0), dir.path("b.h5"), {.grows = true});
  ht::io::append_rows(cut(global, 0), dir.path("b.h5"));
  CHECK(same(ht::io::load(dir.path("b.h5")), at::cat({global, global})));
}

TEST_CASE("rows that do not fit, and files that cannot grow", "[io][append]") {
  const TempDir dir;
  const auto x = ht::zeros({4, 3}, {.split = 0});
  const auto value_error = [&](const ht::DNDarray& rows, const std::string& name,
                               const ht::io::SaveOptions& options = {}) {
    return same_message<ht::ValueError>([&] { ht::io::append_rows(rows, dir.path(name), options); });
  };
  const auto io_error = [&](const std::string& name) {
    return same_message<ht::IoError>([&] { ht::io::append_rows(x, dir.path(name)); });
  };
  for (const std::string name : {"a.zarr", "a.h5"}) {
    ht::io::append_rows(x, dir.path(name));
    CHECK_THAT(value_error(ht::zeros({4, 2}, {.split = 0}), name), Contains("shape (4, 2)") && Contains("(4, 3)"));
    CHECK_THAT(value_error(ht::zeros({4}, {.split = 0}), name), Contains("shape (4,)"));
    CHECK_THAT(value_error(ht::zeros({4, 3}, {.dtype = ht::int32, .split = 0}), name),
               Contains("int32") && Contains("float32"));
    CHECK(same(ht::io::load(dir.path(name)), at::zeros({4, 3})));
  }
  CHECK_THAT(value_error(x, "a.npy"), Contains("a.npy") && Contains(".zarr, .h5"));
  CHECK_THAT(value_error(ht::zeros({}), "b.h5"), Contains("without axes"));
  CHECK_THAT(value_error(x, "b.h5", {.shards = true}), Contains("shards"));
  CHECK_THAT(value_error(x, "b.zarr", {.dataset = "../x"}), Contains("dataset"));
  ht::io::save(x, dir.path("fixed.h5"));
  CHECK_THAT(io_error("fixed.h5"), Contains("cannot grow by 4"));
  write_bytes(dir.path("text.h5"), "no HDF5");
  CHECK_THAT(io_error("text.h5"), Contains("text.h5"));
  on_root([&] { fs::create_directory(dir.path("empty.zarr")); });
  CHECK_THAT(io_error("empty.zarr"), Contains("which has none"));
  CHECK_THAT(io_error("no/a.zarr"), Contains("no/a.zarr"));
}

TEST_CASE("other ranks can extend an array that some ranks have begun", "[io][append]") {
  const TempDir dir;
  const auto values = counting({9, 4}, at::kInt);
  const auto first = *ht::world().split(ht::world().rank() == 0 ? 0 : 1);
  for (const auto& options : {ht::io::SaveOptions{}, ht::io::SaveOptions{.chunks = {2, 3}},
                              ht::io::SaveOptions{.compression = "zstd", .chunks = {2, 3}}})
    for (const std::string name : {"a.zarr", "a.h5"}) {
      on_root([&] {
        fs::remove_all(dir.path(name));
        ht::io::append_rows(ht::from_local(values.slice(0, 0, 3).clone(), {.split = 0, .comm = first}), dir.path(name),
                            options);
      });
      ht::io::append_rows(cut(values.slice(0, 3, 8), 0), dir.path(name));
      on_root([&] {
        ht::io::append_rows(ht::from_local(values.slice(0, 8, 9).clone(), {.split = 0, .comm = first}), dir.path(name));
      });
      CHECK(same(ht::io::load(dir.path(name)), values));
    }
}

TEST_CASE("rows go into no type but their own", "[io][append]") {
  const TempDir dir;
  const auto rows = cut(counting({2, 2}, at::kInt) - 1, 0);
  const auto error = [&](const std::string& name) {
    return same_message<ht::IoError>([&] { ht::io::append_rows(rows, dir.path(name)); });
  };
  on_root([&] { fs::create_directory(dir.path("a.zarr")); });
  write_bytes(dir.path("a.zarr/.zarray"),
              R"({"zarr_format": 2, "shape": [3, 2], "chunks": [2, 2], "dtype": "<u2", "compressor": null,
                  "fill_value": 0, "order": "C", "filters": null})");
  write_bytes(dir.path("a.zarr/0.0"), std::string(8, '\1'));
  write_bytes(dir.path("a.zarr/1.0"), std::string(8, '\1'));
  CHECK_THAT(error("a.zarr"), Contains("unsigned"));
  CHECK(same(ht::io::load(dir.path("a.zarr")), at::full({3, 2}, 257, at::kInt)));

  const auto make = [&](const std::string& name, hid_t type, const std::function<void(hid_t)>& store) {
    on_root([&] {
      const hsize_t extents[] = {3, 2}, most[] = {H5S_UNLIMITED, 2}, chunk[] = {2, 2};
      const hid_t file = H5Fcreate(dir.path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      const hid_t space = H5Screate_simple(2, extents, most), create = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_chunk(create, 2, chunk);
      store(create);
      const hid_t set = H5Dcreate2(file, "data", type, space, H5P_DEFAULT, create, H5P_DEFAULT);
      for (const hid_t id : {set, create, space, file}) H5Idec_ref(id);
    });
  };
  make("a.h5", H5T_STD_U16LE, [](hid_t) {});
  CHECK_THAT(error("a.h5"), Contains("stores another type"));
  make("a.h5", H5T_STD_I32BE, [](hid_t) {});
  CHECK_THAT(error("a.h5"), Contains("stores another type"));
  make("b.h5", H5T_STD_I32LE, [](hid_t) {});
  if (ht::world().size() > 1) CHECK_THAT(error("b.h5"), Contains("new chunks HDF5 makes late"));
  else ht::io::append_rows(rows, dir.path("b.h5"));
  make("d.h5", H5T_STD_I32LE, [](hid_t create) {
    H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
    H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY);
  });
  ht::io::append_rows(rows, dir.path("d.h5"));
  CHECK(same(ht::io::load(dir.path("d.h5"), {.slices = {ht::slice(3, 5)}}), counting({2, 2}, at::kInt) - 1));
  make("c.h5", H5T_STD_I32LE, [](hid_t create) { H5Pset_filter(create, 511, H5Z_FLAG_OPTIONAL, 0, nullptr); });
  CHECK_THAT(error("c.h5"), Contains("filter 511"));
  CHECK(ht::io::contents(dir.path("c.h5")).front().shape == ht::Shape{3, 2});
}

TEST_CASE("rows come into stores as others make them", "[io][append]") {
  const TempDir dir;
  const auto values = counting({7, 4}, at::kInt);
  for (const auto* separator : {".", "/"})
    for (const auto* compressor : {"null", R"({"id": "gzip", "level": 5})", R"({"id": "zlib", "level": 5})"}) {
      const auto path = dir.path("a.zarr");
      on_root([&] { fs::remove_all(path), fs::create_directory(path); });
      write_bytes(path + "/.zarray",
                  R"({"zarr_format": 2, "shape": [0, 4], "chunks": [2, 3], "dtype": "<i4", "compressor": )" +
                      std::string(compressor) + R"(, "fill_value": 0, "order": "C", "filters": null,
                                     "dimension_separator": ")" +
                      separator + "\"}");
      ht::io::append_rows(cut(values.slice(0, 0, 3), 0), path);
      ht::io::append_rows(cut(values.slice(0, 3, 7), 1), path);
      CHECK(same(ht::io::load(path), values));
      const auto chunk = read_bytes(path + "/3" + separator + "1");
      CHECK((chunk.substr(0, 2) == "\x1f\x8b") == std::string(compressor).starts_with(R"({"id": "gzip")"));
    }
}

TEST_CASE("steps of a field that is cut along any axis are added in order", "[io][append]") {
  const TempDir dir;
  const auto steps = counting({3, 8, 6}, at::kDouble);
  for (const std::string name : {"a.zarr", "a.h5"})
    for (const auto& layout : every_layout({8, 6})) {
      on_root([&] { fs::remove_all(dir.path(name)); });
      for (std::int64_t step = 0; step < 3; ++step)
        ht::io::append_rows(ht::expand_dims(distribute(steps[step].contiguous(), layout), 0), dir.path(name));
      CHECK(same(ht::io::load(dir.path(name)), steps));
    }
}

TEST_CASE("a reader finds whole steps while the array grows", "[io][append]") {
  const TempDir dir;
  constexpr std::int64_t count = 20;
  // The last rank reads while the others write. A single rank has no reader.
  const auto& world = ht::world();
  const bool reads = world.size() > 1 && world.rank() == world.size() - 1;
  const auto comm = *world.split(reads ? 1 : 0, world.rank());
  for (const std::string ending : {".zarr", ".h5"}) {
    const auto path = dir.path("a" + ending);
    const auto append = [&](std::int64_t step) {
      const auto rows = at::full({3, 50}, step, at::kLong);
      const ht::Layout layout({3, 50}, 1, comm.size());
      const auto mine = rows.narrow(1, layout.offset(comm.rank()), layout.count(comm.rank())).contiguous();
      ht::io::append_rows(ht::from_local(mine, {.split = 1, .comm = comm}), path,
                          {.chunks = {2, 20}});  // a step ends within a chunk
    };
    if (!reads) append(0);
    world.barrier();
    std::int64_t seen = 0;
    std::string wrong;  // the others wait for this rank in any case
    const auto look = [&] {
      const auto x = ht::io::load(path, {.comm = comm}).larray();
      if (x.size(0) % 3 != 0 || x.size(0) / 3 < seen || !at::equal(x, steps(x.size(0) / 3)))
        wrong = "rows " + std::to_string(x.size(0)) + " after " + std::to_string(3 * seen);
      seen = x.size(0) / 3;
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (reads && seen < count && wrong.empty() && std::chrono::steady_clock::now() < end) {
      try {
        look();
      } catch (const std::exception& error) {
        // If there are more ranks than cores, and they spin, a step may take longer than load waits.
        wrong = Contains("another process is writing").match(error.what()) ? "" : error.what();
      }
    }
    for (std::int64_t i = 1; !reads && i < count; ++i) append(i);
    world.barrier();
    CHECK(wrong.empty());
    if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.c_str());
    if (reads) CHECK(seen == count);
    CHECK(same(ht::io::load(path), steps(count)));
  }
}
