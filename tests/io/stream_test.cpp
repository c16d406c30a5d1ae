#include "bytes.hpp"

#include <fmt/format.h>

namespace {

using Catch::Contains;
using Catch::StartsWith;

/// Returns the formats. Those that store all kinds of arrays come first.
std::vector<std::string> formats() {
  std::vector<std::string> all{"h5", "npy", "safetensors", "zarr", "npz", "csv"};
  if (ht::io::supports_netcdf()) all.push_back("nc");
  return all;
}
bool has_names(const std::string& format) {
  return format == "h5" || format == "nc" || format == "npz" || format == "safetensors" || format == "zarr";
}

ht::io::ConvertOptions pieces(std::int64_t bytes, ht::io::SaveOptions save = {}) {
  ht::io::ConvertOptions options;
  options.piece_bytes = bytes;
  options.save = std::move(save);
  return options;
}

/// Writes `values` with HDF5's functions, as h5py does, and from that file a file of each format.
void write_all(const TempDir& dir, const at::Tensor& values) {
  write_plain(dir.path("x.h5"), "data", values, {.chunk = {3, 4}, .gzip = 2});
  const ht::io::StoredArray x(dir.path("x.h5"));
  for (const auto& format : formats())
    if (format != "h5") ht::io::convert(x, dir.path("x." + format), pieces(150));
}

}  // namespace

TEST_CASE("every format becomes every other one, piece by piece, with the same bits", "[io][stream]") {
  const TempDir dir;
  const auto type = GENERATE(at::kDouble, at::kInt);
  auto values = counting({13, 4}, type);
  if (type == at::kDouble) values = values.div(7).index_put_({2, 1}, std::numeric_limits<double>::quiet_NaN());
  write_all(dir, values);
  for (const auto& from : formats()) {
    std::optional<ht::Dtype> dtype;
    if (from == "csv" && type == at::kInt) dtype = ht::int32;  // texts have no dtype
    const ht::io::StoredArray x(dir.path("x." + from), {.dtype = dtype});
    CHECK(x.streams() == (from != "csv"));
    CHECK(same(x.all(), values));
    for (const auto& to : formats()) {
      INFO(from << " to " << to);
      ht::io::SaveOptions save;
      if (to == "h5" || to == "zarr" || to == "nc") save = {.compression = 1, .chunks = {2, 3}};
      std::int64_t rows = 0;
      auto options = pieces(100, save);
      options.written = [&](std::int64_t count) { rows += count; };

      const auto written = ht::io::convert(x, dir.path("y." + to), options);

      CHECK(written == std::vector{dir.path("y." + to)});
      CHECK(rows == 13);
      CHECK(same(
          ht::io::StoredArray(dir.path("y." + to), {.dtype = to == "csv" ? dtype.value_or(x.dtype()) : dtype}).all(),
          values));
    }
  }
}

TEST_CASE("contents lists the arrays of files of every format", "[io][stream]") {
  const TempDir dir;
  write_all(dir, counting({13, 4}, at::kDouble));
  for (const auto& format : formats()) {
    INFO(format);
    const auto found = ht::io::contents(dir.path("x." + format));

    REQUIRE(found.size() == 1);
    CHECK(found[0].name == (format == "npz" ? "arr_0" : has_names(format) ? "data" : ""));
    CHECK(found[0].shape == ht::Shape{13, 4});
    CHECK(found[0].dtype == (format == "csv" ? ht::get_default_dtype() : ht::float64));
    const bool is_compressed = format == "h5" || format == "zarr" || format == "nc" || format == "npz";
    CHECK(found[0].compressed == is_compressed);
    CHECK(found[0].problem.empty());
  }
  ht::io::convert(ht::io::StoredArray(dir.path("x.h5")), dir.path("x.h5"),
                  pieces(100, {.dataset = "a/b", .append = true, .chunks = {5, 2}}));
  const auto both = ht::io::contents(dir.path("x.h5"));
  REQUIRE(both.size() == 2);
  CHECK(both[0].name == "a/b");
  CHECK(both[0].chunks == ht::Shape{5, 2});
  CHECK(both[1].name == "data");
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::contents(dir.path("none.h5")); }), Contains("none.h5"));
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::contents(dir.path("none.npy")); }), Contains("none.npy"));
  CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::contents("x.unknown"); }),
             StartsWith("[contents] got "));
}

TEST_CASE("rows of stored arrays are those of their shards, whole chunks to a rank", "[io][stream]") {
  const TempDir dir;
  const auto values = counting({50, 3}, at::kLong);
  for (int part = 0; part < 3; ++part)
    write_plain(dir.path(fmt::format("part-{}.h5", part)), "x",
                values.slice(0, 20 * part, std::min(50, 20 * part + 20)), {.chunk = {4, 3}});
  const ht::io::StoredArray x(dir.path("part-*.h5"), {.dataset = "x", .dtype = ht::float32});

  CHECK(x.files() == 3);
  CHECK(x.shape() == ht::Shape{50, 3});
  CHECK(x.rows_of_bytes(5 * 3 * 4) == 4);
  CHECK(x.rows_of_bytes(1) == 1);
  for (const auto& [first, count] : {std::pair(0, 50), {8, 25}, {19, 2}, {50, 0}, {7, 1}})
    CHECK(same(x.rows(first, count), values.slice(0, first, first + count).to(at::kFloat)));
  const auto layout = x.rows(8, 40).layout();
  for (int rank = 1; rank < ht::world().size(); ++rank) CHECK(layout.offset(rank) % 4 == 0);
  CHECK_THAT(same_message<ht::IndexError>([&] { return x.rows(40, 11); }),
             StartsWith("[StoredArray] got 11 rows from 40 on"));
  const auto make = [&](const char* name) { return ht::io::StoredArray(dir.path("part-*.h5"), {.dataset = name}); };
  CHECK_THAT(same_message<ht::IoError>([&] { return make("y").shape(); }), Contains("\"y\""));
}

TEST_CASE("an array goes into a number of files", "[io][stream]") {
  const TempDir dir;
  const auto values = counting({11, 2});
  write_plain(dir.path("x.h5"), "data", values);
  const ht::io::StoredArray x(dir.path("x.h5"));
  auto options = pieces(16);
  options.files = 3;

  CHECK(ht::io::convert(x, dir.path("s-{rank}.npy"), options).back() == dir.path("s-2.npy"));
  CHECK(same(ht::io::load(dir.path("s-*.npy")), values));
  CHECK(ht::io::load(dir.path("s-2.npy")).shape() == ht::Shape{3, 2});

  options.files = 2;
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::convert(x, dir.path("s-{rank}.npy"), options); }),
             Contains("left-over"));
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::convert(x, dir.path("s.npy"), options); }),
             StartsWith("[convert] got "));
  options.files = 0;
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::convert(x, dir.path("s.npy"), options); }),
             Contains("got 0 files"));
}

TEST_CASE("chunks do not change if no others are given", "[io][stream]") {
  const TempDir dir;
  const auto values = counting({10, 6});
  write_plain(dir.path("x.h5"), "data", values, {.chunk = {4, 5}});
  const ht::io::StoredArray x(dir.path("x.h5"));
  auto options = pieces(100);
  options.files = 4;
  for (const auto* format : {"zarr", "h5"}) {
    ht::io::convert(x, dir.path(std::string("y.") + format), pieces(100));
    CHECK(ht::io::contents(dir.path(std::string("y.") + format)).front().chunks == ht::Shape{4, 5});

    ht::io::convert(x, dir.path(std::string("y-{rank}.") + format), options);
    CHECK(ht::io::contents(dir.path(std::string("y-3.") + format)).front().chunks == ht::Shape{2, 5});
    CHECK(same(ht::io::load(dir.path(std::string("y-*.") + format)), values));
  }
}

TEST_CASE("a copy is compressed as before if no compression is given", "[io][stream]") {
  using ht::io::Compression;
  const TempDir dir;
  const auto values = counting({40, 6});
  const auto shuffled = [](Compression compression, bool shuffle) {
    compression.shuffle = shuffle;
    return compression;
  };
  const auto of = [&](const std::string& name) { return ht::io::contents(dir.path(name)).at(0).compression; };
  const auto copy = [&](const std::string& from, const std::string& to, const ht::io::ConvertOptions& options = {}) {
    ht::io::convert(ht::io::StoredArray(dir.path(from)), dir.path(to), options);
    CHECK(same(ht::io::load(dir.path(to)), values));
    return of(to);
  };
  write_plain(dir.path("plain.h5"), "data", values, {.chunk = {8, 6}});
  write_plain(dir.path("gzip.h5"), "data", values, {.chunk = {8, 6}, .gzip = 7, .shuffle = true, .checksum = true});
  CHECK(of("gzip.h5") == shuffled(7, true));
  CHECK(copy("gzip.h5", "gzip-2.h5") == shuffled(7, true));
  CHECK(copy("gzip.h5", "gzip.zarr") == Compression(7));
  CHECK(copy("gzip.zarr", "gzip-3.h5") == shuffled(7, false));
  CHECK(copy("gzip.h5", "gzip.npz") == Compression("gzip"));
  CHECK(copy("gzip.npz", "gzip-4.h5") == shuffled(4, false));
  for (const auto* name : {"plain", "gzip"}) CHECK_FALSE(copy(name + std::string(".h5"), name + std::string(".npy")));
  for (const auto* ending : {"h5", "zarr"}) CHECK_FALSE(copy("plain.h5", std::string("plain-2.") + ending));

  for (const auto* codec : {"zstd:7", "lz4", "blosc:3"}) {
    ht::io::convert(ht::io::StoredArray(dir.path("plain.h5")), dir.path("codec.h5"),
                    pieces(100, {.compression = codec}));
    CHECK(copy("codec.h5", "codec-2.h5") == of("codec.h5"));
    CHECK(copy("codec.h5", "codec.zarr") == Compression(codec));
    CHECK(copy("codec.zarr", "codec-2.zarr") == Compression(codec));
    CHECK(ht::io::contents(dir.path("codec-2.zarr")).at(0).chunks == ht::Shape{8, 6});
    CHECK(copy("codec.zarr", "codec-3.h5")->codec == Compression(codec).codec);
    if (ht::io::supports_netcdf()) CHECK(copy("codec.h5", "codec.nc") == shuffled("gzip", true));
  }
  if (ht::io::supports_netcdf()) {
    CHECK(copy("gzip.h5", "gzip.nc") == shuffled(7, true));
    CHECK(copy("gzip.nc", "gzip-2.nc") == shuffled(7, true));
    CHECK(copy("gzip.nc", "gzip-5.h5") == shuffled(7, true));
    CHECK_FALSE(copy("gzip.nc", "classic.nc", pieces(100, {.netcdf_format = ht::io::NetcdfFormat::cdf5})));
  }
  CHECK(copy("gzip.h5", "asked.zarr", pieces(100, {.compression = 2})) == Compression(2));
  for (const auto* ending : {"h5", "zarr"})
    CHECK_FALSE(copy("gzip.h5", std::string("none.") + ending, {.compress_as_before = false}));
  CHECK_THAT(same_message<ht::ValueError>(
                 [&] { ht::io::save(ht::ones({2}), dir.path("x.zarr"), {.compression = shuffled(1, true)}); }),
             StartsWith("[save_zarr] got shuffle"));
}

TEST_CASE("uint64 keeps its bits if the new format has uint64", "[io][stream]") {
  const TempDir dir;
  // numpy.array([[0, 1], [2**53 + 1, 2**63 - 1], [2**63, 2**64 - 1]], "u8"), as int64 with the same bits
  const std::vector<std::int64_t> bits{0, 1, (std::int64_t{1} << 53) + 1, INT64_MAX, INT64_MIN, -1};
  const auto values = at::tensor(bits, at::kLong).view({3, 2});
  const auto floats = at::tensor(std::vector<double>{0, 1, 0x1p53, 0x1p63, 0x1p63, 0x1p64}).view({3, 2});
  for (const bool one : {false, true}) {
    const auto stored = one ? values[2][0].clone() : values;
    const auto expected = one ? floats[2][0].clone() : floats;
    const auto x = distribute(
        stored, ht::Layout({stored.sizes().begin(), stored.sizes().end()}, std::nullopt, ht::world().size()));
    for (const auto& from : formats()) {
      if (from == "csv") continue;
      const auto path = dir.path("x." + from);
      ht::io::save(x, path, {.uint64 = true});
      CHECK(ht::io::contents(path).at(0).uint64);
      CHECK(same(ht::io::load(path, {.dtype = ht::float64}), expected));
      CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::load(path); }), Contains("2^63"));
      const ht::io::StoredArray array(path);
      for (const auto& to : formats()) {
        INFO(from << " to " << to);
        const auto copy = dir.path("y." + to);
        if (to == "csv") {
          if (!one)
            CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::convert(array, copy); }), Contains("as float64"));
          continue;
        }
        ht::io::convert(array, copy, pieces(16));
        CHECK(ht::io::contents(copy).at(0).uint64);
        CHECK(same(ht::io::StoredArray(copy).stored().all(), stored));
        ht::io::convert(ht::io::StoredArray(path, {.dtype = ht::float64}), copy, pieces(16));
        CHECK(same(ht::io::load(copy), expected));
      }
      if (!one && ht::io::supports_netcdf())
        CHECK_THAT(same_message<ht::TypeError>([&] {
                     ht::io::convert(array, dir.path("z.nc"),
                                     pieces(16, {.netcdf_format = ht::io::NetcdfFormat::cdf2}));
                   }),
                   Contains("float64"));
    }
  }
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save(ht::ones({2}), dir.path("a.npy"), {.uint64 = true}); }),
             Contains("got uint64 for an array of float32; expected int64"));
}

TEST_CASE("numbers without axes and arrays without rows are converted", "[io][stream]") {
  const TempDir dir;
  write_plain(dir.path("one.h5"), "data", at::full({}, 2.5));
  write_plain(dir.path("none.h5"), "data", at::empty({0, 3}));
  for (const auto* format : {"npy", "safetensors", "zarr", "npz", "h5"}) {
    INFO(format);
    for (const auto& [name, expected] : {std::pair("one", at::full({}, 2.5)), {"none", at::empty({0, 3})}}) {
      const auto to = dir.path(fmt::format("to-{}.{}", name, format));
      ht::io::convert(ht::io::StoredArray(dir.path(name + std::string(".h5"))), to);
      CHECK(same(ht::io::load(to), expected));
    }
  }
}

TEST_CASE("rows that are made while they are saved lie as said, in any layout, or no file appears", "[io][stream]") {
  const TempDir dir;
  const auto values = counting({9, 4});
  for (const auto& format : formats()) {
    if (format == "npz") continue;
    const auto path = dir.path("x." + format);
    ht::io::SaveOptions options;
    if (format == "zarr") options.chunks = {2, 4};
    ht::io::RowsToSave rows{.shape = {9, 4}, .piece_rows = 4};
    std::int64_t next = 0;
    rows.rows = [&](std::int64_t first, std::int64_t count) {
      CHECK(first == next);
      next += count;
      const ht::Layout layout({count, 4}, first == 0 ? std::optional(1) : std::nullopt, ht::world().size());
      return distribute(values.slice(0, first, first + count), layout);
    };
    ht::io::save_rows(rows, path, options);
    CHECK(same(ht::io::load(path, {.dtype = ht::float32}), values));

    rows.rows = [&](std::int64_t first, std::int64_t count) {
      if (first > 0) throw ht::ValueError("[test] got enough; expected an end");
      return distribute(values.slice(0, 0, count), ht::Layout({count, 4}, 0, ht::world().size()));
    };
    CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save_rows(rows, path, options); }),
               StartsWith("[test] got enough"));
    CHECK(same(ht::io::load(path, {.dtype = ht::float32}), values));
    rows.rows = [&](std::int64_t, std::int64_t count) {
      if (ht::world().rank() == ht::world().size() - 1) throw ht::ValueError("[test] got one rank; expected all");
      return distribute(values.slice(0, 0, count), ht::Layout({count, 4}, std::nullopt, ht::world().size()));
    };
    CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save_rows(rows, path, options); }),
               StartsWith("[test] got one rank"));
    rows.dtype = ht::float64;
    next = 0;
    rows.rows = [&](std::int64_t, std::int64_t count) {
      return distribute(values.slice(0, 0, count), ht::Layout({count, 4}, 0, ht::world().size()));
    };
    CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save_rows(rows, path, options); }),
               Contains("expected shape (4, 4) and float64"));
  }
  const ht::io::RowsToSave some{.shape = {9, 4}};
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save_rows(some, dir.path("x.npz")); }),
             StartsWith("[save_rows] got "));
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save_rows(some, dir.path("y.h5"), {.shards = true}); }),
             StartsWith("[save_rows] got shards"));
  CHECK(dir.names().size() == formats().size() - 1);
}
