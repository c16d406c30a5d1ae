#include "written.hpp"

#include <fmt/format.h>
#include <filesystem>

namespace {

using Catch::Contains;
namespace fs = std::filesystem;

struct Stored {
  std::string type = "<i4";
  std::string compressor = "null";
  std::string order = "C";
  std::string separator = ".";
};

std::string metadata(const std::string& shape, const std::string& chunks, const Stored& stored) {
  return fmt::format(
      R"({{"zarr_format": 2, "shape": {}, "chunks": {}, "dtype": "{}", "compressor": {}, "fill_value": -1, "order": "{}",
          "filters": null, "dimension_separator": "{}"}})",
      shape, chunks, stored.type, stored.compressor, stored.order, stored.separator);
}

/// Cuts an array of shape (7, 5) into chunks of (3, 2), and leaves out the one at (1, 1). `file` returns name and
/// content.
template <class File>
void write_chunks(const at::Tensor& values, File file) {
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      if (i == 1 && j == 1) continue;
      auto chunk = at::full({3, 2}, 99, values.options());
      const auto part = values.slice(0, 3 * i, 3 * i + 3).slice(1, 2 * j, 2 * j + 2);
      chunk.slice(0, 0, part.size(0)).slice(1, 0, part.size(1)).copy_(part);
      const auto [name, bytes] = file(chunk, i, j);
      on_root([path = fs::path(name)] { fs::create_directories(path.parent_path()); });
      write_bytes(name, bytes);
    }
}

/// Writes an array of format 2.
void write_plain(const std::string& path, const at::Tensor& values, const Stored& stored = {}) {
  on_root([&] { fs::create_directories(path); });
  write_bytes(path + "/.zarray", metadata("[7, 5]", "[3, 2]", stored));
  write_chunks(values, [&](const at::Tensor& chunk, std::int64_t i, std::int64_t j) {
    const auto bytes = bytes_of(stored.order == "F" ? chunk.t() : chunk, stored.type[0] == '>' ? 4 : 1);
    return std::pair(fmt::format("{}/{}{}{}", path, i, stored.separator, j),
                     stored.compressor == "null" ? bytes : deflated(bytes, Contains("gzip").match(stored.compressor)));
  });
}

std::string metadata_3(const std::string& codecs, const std::string& keys, const std::string& more = "") {
  return fmt::format(
      R"({{"zarr_format": 3, "node_type": "array", "shape": [7, 5], "data_type": "int32", "fill_value": -1,
          "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [3, 2]}}}}, "attributes": {{}},
          "chunk_key_encoding": {}, "codecs": [{}]{}}})",
      keys, codecs, more);
}

/// Writes an array of format 3.
void write_plain_3(const std::string& path, const at::Tensor& values, const std::string& metadata, bool big, bool gzip,
                   const std::string& prefix, const std::string& separator) {
  on_root([&] { fs::create_directories(path); });
  write_bytes(path + "/zarr.json", metadata);
  write_chunks(values, [&](const at::Tensor& chunk, std::int64_t i, std::int64_t j) {
    const auto bytes = bytes_of(chunk, big ? 4 : 1);
    return std::pair(fmt::format("{}/{}{}{}{}", path, prefix, i, separator, j), gzip ? deflated(bytes, true) : bytes);
  });
}

at::Tensor with_hole(at::Tensor values) {
  values = values.clone();
  values.slice(0, 3, 6).slice(1, 2, 4).fill_(-1);
  return values;
}

}  // namespace

TEST_CASE("Zarr arrays load with every split", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  const auto values = counting({7, 5}, at::kInt);
  const auto global = with_hole(values);
  const Stored kinds[] = {{},
                          {.order = "F"},
                          {.type = ">i4", .separator = "/"},
                          {.compressor = R"({"id": "zlib", "level": 1})"},
                          {.compressor = R"({"id": "gzip", "level": 5})", .order = "F"}};
  for (const auto& kind : kinds) {
    on_root([&] { fs::remove_all(path); });
    write_plain(path, values, kind);
    for (const auto& split : every_split({7, 5})) {
      CHECK(same(ht::io::load_zarr(path, "", {.split = split}), global));
      CHECK(same(
          ht::io::load(path, {.split = split, .slices = {ht::slice(1, 7, 2), ht::slice(1, -1)}, .dtype = ht::float64}),
          global.slice(0, 1, 7, 2).slice(1, 1, 4).to(at::kDouble)));
    }
  }
}

TEST_CASE("missing chunks are converted as those that are there", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  on_root([&] { fs::create_directories(path); });
  const auto write = [&](const std::string& type, const std::string& fill) {
    write_bytes(path + "/.zarray", R"({"zarr_format": 2, "shape": [3], "chunks": [2], "compressor": null, "order": "C",
                  "filters": null, "dtype": ")" +
                                       type + R"(", "fill_value": )" + fill + "}");
  };
  for (const auto& split : every_split({3})) {
    write("<i4", "300");
    CHECK(same(ht::io::load(path, {.split = split, .dtype = ht::uint8}), at::full({3}, 44, at::kByte)));
    write("<f8", "1e300");
    CHECK(same(ht::io::load(path, {.split = split, .dtype = ht::float32}), at::full({3}, INFINITY)));
    write("<u8", "18446744073709551615");
    CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::load(path, {.split = split}); }), Contains("2^63"));
    write("<f4", "1e300");
    CHECK(same(ht::io::load(path, {.split = split}), at::full({3}, INFINITY)));
    write("<i8", "9223372036854775807");
    CHECK(same(ht::io::load(path, {.split = split}), at::full({3}, INT64_MAX, at::kLong)));
    for (const auto& [type, fill] : {std::pair{"|u1", "300"},
                                     {"|u1", "-1"},
                                     {"|i1", "200"},
                                     {"<i8", "9223372036854775808"},
                                     {"<i8", "1e30"},
                                     {"<i4", "1.5"}}) {
      write(type, fill);
      CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load(path, {.split = split}); }),
                 Contains("fill value"));
    }
  }
}

TEST_CASE("arrays in groups, and many stores", "[io][zarr]") {
  const TempDir dir;
  const auto values = counting({7, 5}, at::kInt);
  for (const auto* store : {"a-2.zarr", "a-10.zarr"}) {
    write_plain(dir.path(store) + "/x", values);
    write_bytes(dir.path(store) + "/.zgroup", R"({"zarr_format": 2})");
  }
  const auto global = with_hole(values);
  CHECK(same(ht::io::load_zarr(dir.path("a-2.zarr"), "x", {.split = 1}), global));
  CHECK(same(ht::io::load_zarr(dir.path("a-2.zarr")), global));
  for (const auto& split : every_split({14, 5}))
    CHECK(same(ht::io::load_zarr(dir.path("a-*.zarr"), "x", {.split = split}), at::cat({global, global})));
}

TEST_CASE("damaged Zarr stores are errors on all ranks", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  write_plain(path, counting({7, 5}, at::kInt));
  const auto error = [&](const std::string& text) {
    if (!text.empty()) write_bytes(path + "/.zarray", text);
    return same_message<ht::IoError>([&] { return ht::io::load_zarr(path, "", {.split = 0}); });
  };
  CHECK_THAT(error("{"), Contains("cannot be understood"));
  CHECK_THAT(error("[]"), Contains("cannot be understood"));
  CHECK_THAT(error(R"({"zarr_format": 3})"), Contains("node_type"));
  CHECK_THAT(error(R"({"zarr_format": 4})"), Contains("expected 2 or 3"));
  CHECK_THAT(error(metadata("[7, 5]", "[3]", {})), Contains("chunks of shape (3,)"));
  CHECK_THAT(error(metadata("[7, 5]", "[3, 0]", {})), Contains("(3, 0)"));
  CHECK_THAT(error(metadata("[7, -5]", "[3, 2]", {})), Contains("(7, -5)"));
  CHECK_THAT(error(metadata("[7, 5]", "[4611686018427387904, 8]", {})), Contains("2^63"));
  CHECK_THAT(error(metadata("[7, 5]", "[3, 2]", {.type = "|S3"})), Contains("|S3"));
  CHECK_THAT(error(metadata("[7, 5]", "[3, 2]", {.compressor = R"({"id": "pcodec"})"})), Contains("pcodec"));
  CHECK_THAT(error(metadata("[7, 5]", "[4, 2]", {})), Contains("24 bytes; expected 32"));
  CHECK_THAT(error(metadata("[7, 5]", "[3, 2]", {.compressor = R"({"id": "zlib"})"})), Contains("0.0"));
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load_zarr(path, "y"); }), Contains("\"y\""));
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load_zarr(dir.path("b.zarr")); }), Contains("b.zarr"));
}

TEST_CASE("every layout and dtype is saved in chunks and comes back", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  const ht::Shape shape = GENERATE(ht::Shape{13, 5}, ht::Shape{3, 4, 5}, ht::Shape{0, 3}, ht::Shape{});
  const auto global = counting(shape);
  for (const auto& layout : every_layout(shape))
    for (const auto& options :
         {ht::io::SaveZarrOptions{}, ht::io::SaveZarrOptions{.compression = 3},
          ht::io::SaveZarrOptions{.compression = "zstd:1"}, ht::io::SaveZarrOptions{.compression = "lz4"},
          ht::io::SaveZarrOptions{.compression = "blosc:9"},
          ht::io::SaveZarrOptions{.chunks = ht::Shape(shape.size(), 2)},
          ht::io::SaveZarrOptions{.chunks = ht::Shape(shape.size(), 9), .compression = 1}}) {
      ht::io::save_zarr(distribute(global, layout), path, options);
      CHECK(same(ht::io::load_zarr(path, "", {.split = layout.split()}), global));
    }
  for (int i = 0; i < ht::dtype_count && shape.size() == 2; ++i) {
    const auto dtype = static_cast<ht::Dtype>(i);
    const auto values = counting({13, 5}, at::kDouble).to(ht::to_torch(dtype));
    ht::io::save(distribute(values, ht::Layout({13, 5}, 0, ht::world().size())), path, {.chunks = {4, 5}});
    CHECK(same(ht::io::load(path, {.split = 1}), values));
  }
  CHECK(dir.names() == std::vector<std::string>{"a.zarr"});
}

TEST_CASE("a Zarr chunk on the disk", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  const auto global = counting({3, 2}, at::kInt);
  for (const auto& layout : every_layout({3, 2})) {
    ht::io::save_zarr(distribute(global, layout), path, {.chunks = {2, 2}});
    CHECK(read_bytes(path + "/data/0.0") == bytes_of(global.slice(0, 0, 2)));
    CHECK(read_bytes(path + "/data/1.0") == bytes_of(global.slice(0, 2, 3)) + std::string(8, '\0'));
    CHECK_THAT(read_bytes(path + "/data/.zarray"), Contains("\"<i4\"") && Contains("\"zarr_format\": 2"));
  }
}

TEST_CASE("bad options of save_zarr, and directories that are no stores", "[io][zarr]") {
  const TempDir dir;
  const auto x = ht::zeros({4, 3}, {.split = 0});
  const auto save = [&](const std::string& name, const ht::io::SaveZarrOptions& options) {
    return [&, name, options] { ht::io::save_zarr(x, dir.path(name), options); };
  };
  CHECK_THAT(same_message<ht::ValueError>(save("a.zarr", {.chunks = {4}})), Contains("(4,)"));
  CHECK_THAT(same_message<ht::ValueError>(save("a.zarr", {.chunks = {4, 0}})), Contains("(4, 0)"));
  CHECK_THAT(same_message<ht::ValueError>(save("a.zarr", {.compression = 10})), Contains("compression 10"));
  CHECK_THAT(same_message<ht::IoError>(save("no/a.zarr", {})), Contains("no/a.zarr"));
  CHECK(dir.names().empty());
  on_root([&] { fs::create_directory(dir.path("mine")); });
  write_bytes(dir.path("mine/notes.txt"), "keep");
  CHECK_THAT(same_message<ht::IoError>(save("mine", {})), Contains("no Zarr store"));
  CHECK(read_bytes(dir.path("mine/notes.txt")) == "keep");
  save("a.zarr", {})();
  CHECK_THAT(same_message<ht::IoError>(save("a.zarr", {.overwrite = false})), Contains("not to be replaced"));
  on_root([&] { fs::create_directory_symlink("a.zarr", dir.path("link.zarr")); });
  save("link.zarr", {})();
  CHECK(fs::is_symlink(dir.path("link.zarr")));
  ht::world().barrier();
  on_root([&] { fs::remove(dir.path("link.zarr")); });
  CHECK(dir.names() == std::vector<std::string>{"a.zarr", "mine"});
}

TEST_CASE("Zarr arrays of format 3 load with every split", "[io][zarr]") {
  const TempDir dir;
  const auto values = counting({7, 5}, at::kInt);
  const auto global = with_hole(values);
  const std::string big = R"({"name": "bytes", "configuration": {"endian": "big"}})";
  const std::string gzip = R"({"name": "gzip", "configuration": {"level": 5}})";
  const std::string keys = R"({"name": "default"})";

  on_root([&] { fs::create_directories(dir.path("group.zarr")); });
  write_bytes(dir.path("group.zarr") + "/zarr.json", R"({"zarr_format": 3, "node_type": "group"})");
  write_plain_3(dir.path("group.zarr/x"), values, metadata_3(little, keys), false, false, "c/", "/");
  write_plain_3(dir.path("b.zarr"), values, metadata_3(big + ", " + gzip, keys), true, true, "c/", "/");
  write_plain_3(dir.path("c.zarr"), values,
                metadata_3(little, R"({"name": "default", "configuration": {"separator": "."}})",
                           R"(, "hint": {"must_understand": false})"),
                false, false, "c.", ".");
  write_plain_3(dir.path("d.zarr"), values, metadata_3(little, R"({"name": "v2"})"), false, false, "", ".");

  for (const auto* store : {"group.zarr", "b.zarr", "c.zarr", "d.zarr"})
    for (const auto& split : every_split({7, 5}))
      CHECK(same(ht::io::load_zarr(dir.path(store), "", {.split = split}), global));
  CHECK(same(ht::io::load_zarr(dir.path("group.zarr"), "x", {.slices = {ht::slice(1, 6)}}), global.slice(0, 1, 6)));
}

TEST_CASE("errors name parts of Zarr's format 3 that are not read", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  on_root([&] { fs::create_directories(path); });
  const auto error = [&](const std::string& codecs, const std::string& keys, const std::string& more = "") {
    write_bytes(path + "/zarr.json", metadata_3(codecs, keys, more));
    return same_message<ht::IoError>([&] { return ht::io::load_zarr(path, "", {.split = 0}); });
  };
  const std::string bytes = R"({"name": "bytes"})", keys = R"({"name": "default"})";

  const std::string shards = R"({"name": "sharding_indexed", "configuration": {"chunk_shape": )",
                    parts = R"(, "codecs": [)" + bytes + R"(], "index_codecs": [)";
  CHECK_THAT(error(bytes + R"(, {"name": "zfpy"})", keys), Contains("zfpy") && Contains("crc32c"));
  CHECK_THAT(error(R"({"name": "gzip"}, )" + bytes, keys), Contains("\"gzip\" before bytes"));
  CHECK_THAT(error(bytes + ", " + bytes, keys), Contains("\"bytes\" of bytes"));
  CHECK_THAT(error(R"({"name": "transpose", "configuration": {"order": [1, 1]}}, )" + bytes, keys),
             Contains("\"transpose\" to [1,1]") && Contains("2 axes"));
  CHECK_THAT(error(shards + "[2, 2]" + parts + bytes + "]}}", keys), Contains("chunks (2, 2) in shards (3, 2)"));
  CHECK_THAT(error(shards + "[0, 1]" + parts + bytes + "]}}", keys), Contains("(0, 1)"));
  CHECK_THAT(error(shards + "[1, 1]" + parts + bytes + R"(, {"name": "gzip"}]}})", keys), Contains("with a table of"));
  CHECK_THAT(error("", keys), Contains("expected bytes"));
  CHECK_THAT(error(bytes, R"({"name": "other"})"), Contains("chunk key encoding"));
  CHECK_THAT(error(bytes, keys, R"(, "storage_transformers": [{"name": "x"}])"), Contains("storage_transformers"));
  CHECK_THAT(error(bytes, keys, R"(, "unknown": 1)"), Contains("unknown"));
}
