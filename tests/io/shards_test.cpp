#include "files.hpp"

#include <filesystem>
#include <numeric>

namespace {

/// Cuts `global` into files of these numbers of rows; natural order of their names is not alphabetical order.
std::vector<std::string> write_shards(const TempDir& dir, const at::Tensor& global,
                                      const std::vector<std::int64_t>& rows, const Storage& storage = {}) {
  std::vector<std::string> paths;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    paths.push_back(dir.path("part-" + std::to_string(i) + ".h5"));
    write_plain(paths.back(), "x", global.slice(0, first, first + rows[i]), storage);
    first += rows[i];
  }
  return paths;
}

const std::optional<int> splits[] = {std::nullopt, 0, 1};

}  // namespace

TEST_CASE("shards load as one array, with every split", "[io][shards]") {
  const TempDir dir;
  const std::vector<std::int64_t> rows =
      GENERATE(std::vector<std::int64_t>{23}, std::vector<std::int64_t>{5, 0, 9, 1}, std::vector<std::int64_t>{0, 0, 2},
               std::vector<std::int64_t>{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}, std::vector<std::int64_t>{0, 0});
  const auto global = counting({std::accumulate(rows.begin(), rows.end(), std::int64_t{0}), 6});
  const auto paths = write_shards(dir, global, rows);
  for (const auto& split : splits) {
    CHECK(same(ht::io::load_hdf5(dir.path("part-*.h5"), "x", {.split = split}), global));
    CHECK(same(ht::io::load_hdf5(paths, "x", {.split = split, .dtype = ht::int32}), global.to(at::kInt)));
    CHECK(ht::io::io_report().files == std::ssize(rows));
    const auto part = ht::io::load_hdf5(paths, "x", {.split = split, .slices = {ht::slice(1, -1, 3), ht::slice(2, 5)}});
    CHECK(same(part, global.slice(0, 1, std::max<std::int64_t>(1, global.size(0) - 1), 3).slice(1, 2, 5)));
  }
}

TEST_CASE("compressed shards are exchanged when split along columns", "[io][shards]") {
  const TempDir dir;
  const auto global = counting({50, 12});
  const auto paths = write_shards(dir, global, {16, 16, 18}, {.chunk = {4, 12}, .gzip = 2});
  for (const auto& split : splits) CHECK(same(ht::io::load_hdf5(paths, "x", {.split = split}), global));
}

TEST_CASE("lists keep their order, and may hold patterns", "[io][shards]") {
  const TempDir dir;
  write_plain(dir.path("b.h5"), "x", at::zeros({1}));
  write_plain(dir.path("a.h5"), "x", at::ones({2}));
  write_plain(dir.path("c[1].h5"), "x", at::full({1}, 2.0f));
  const auto expected = at::tensor({0.f, 1.f, 1.f, 2.f});
  CHECK(
      same(ht::io::load_hdf5({dir.path("b.h5"), dir.path("a.h5"), dir.path("c[1].h5")}, "x", {.split = 0}), expected));
  CHECK(same(ht::io::load_hdf5({dir.path("b.*"), dir.path("a.*"), dir.path("c*")}, "x", {.split = 0}), expected));
}

TEST_CASE("one shard per rank, from every layout", "[io][shards]") {
  const ht::Shape shape = GENERATE(ht::Shape{7, 3}, ht::Shape{2, 4}, ht::Shape{0, 2});
  const auto global = counting(shape);
  for (const auto& layout : every_layout(shape)) {
    const TempDir dir;
    ht::io::save_hdf5(distribute(global, layout), dir.path("s-{rank}.h5"), "g/x", {.shards = true, .compression = 1});
    // The chunk fits the array, but not every shard.
    if (global.numel() > 0)
      ht::io::save_hdf5(distribute(global, layout), dir.path("s-{rank}.h5"), "chunked",
                        {.append = true, .shards = true, .chunks = shape});

    CHECK(std::ssize(dir.names()) == ht::world().size());
    CHECK(ht::io::io_report().files == ht::world().size());
    for (const auto& split : splits)
      CHECK(same(ht::io::load_hdf5(dir.path("s-*.h5"), "g/x", {.split = split}), global));
    if (global.numel() > 0) CHECK(same(ht::io::load_hdf5(dir.path("s-*.h5"), "chunked", {.split = 0}), global));
  }
}

TEST_CASE("a directory takes shards", "[io][shards]") {
  const TempDir dir;
  ht::io::save_hdf5(ht::arange(9, {.split = 0}), dir.path(""), "x", {.shards = true});
  ht::io::save_hdf5(ht::arange(4, {.split = 0}), dir.path(""), "y", {.append = true, .shards = true});
  CHECK(dir.names().front() == "part-0.h5");
  CHECK(same(ht::io::load_hdf5(dir.path("part-*.h5"), "x", {.split = 0}), at::arange(9)));
  CHECK(same(ht::io::load_hdf5(dir.path("part-*.h5"), "y", {.split = 0}), at::arange(4)));
}

TEST_CASE("left-over shards of more ranks are an error", "[io][shards]") {
  const TempDir dir;
  write_plain(dir.path("part-7.h5"), "x", counting({1}));
  write_plain(dir.path("part-1-notes.h5"), "x", counting({1}));
  const auto save = [&] { ht::io::save_hdf5(ht::arange(9, {.split = 0}), dir.path(""), "x", {.shards = true}); };
  CHECK_THAT(same_message<ht::ValueError>(save), Catch::Contains("part-7.h5"));
  on_root([&] { std::filesystem::remove(dir.path("part-7.h5")); });
  CHECK_NOTHROW(save());
}
