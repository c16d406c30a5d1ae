#include "written.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace {

using Catch::Contains;
namespace fs = std::filesystem;

ht::DNDarray cut(const at::Tensor& global, std::optional<int> split = 0) {
  return distribute(global.contiguous(),
                    ht::Layout({global.sizes().begin(), global.sizes().end()}, split, ht::world().size()));
}

nlohmann::json json_in(const std::string& path) { return nlohmann::json::parse(read_bytes(path)); }

/// Returns the consolidated metadata of the array.
nlohmann::json consolidated(const std::string& store, const std::string& name, int format) {
  if (format == 2) return json_in(store + "/.zmetadata").at("metadata").at(name + "/.zarray");
  return json_in(store + "/zarr.json").at("consolidated_metadata").at("metadata").at(name);
}
nlohmann::json own(const std::string& store, const std::string& name, int format) {
  return json_in(store + "/" + name + (format == 2 ? "/.zarray" : "/zarr.json"));
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& found : ht::io::contents(path)) names.push_back(found.name);
  return names;
}

}  // namespace

TEST_CASE("a saved store is a group with consolidated metadata", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  const auto values = counting({6, 5}, at::kInt);
  for (const int format : {2, 3}) {
    ht::io::save(cut(values), path, {.dimension_names = {"y", "x"}, .zarr_format = format});
    CHECK(names_in(path) == std::vector<std::string>{"data"});
    ht::io::save(cut(values), path, {.dataset = "g/t", .dimension_names = {"y", "x"}, .zarr_format = format});
    CHECK(names_in(path) == std::vector<std::string>{"g/t"});
    CHECK(consolidated(path, "g/t", format) == own(path, "g/t", format));
    CHECK(same(ht::io::load(path, {.split = 1}), values));
    CHECK(same(ht::io::load(path, {.dataset = "/g/t", .split = 1}), values));

    ht::io::save(cut(values + 1), path, {.dataset = "u", .append = true});  // in the format of the group
    CHECK(names_in(path) == std::vector<std::string>{"g/t", "u"});
    CHECK(consolidated(path, "u", format) == own(path, "u", format));
    CHECK(same(ht::io::load(path, {.dataset = "u"}), values + 1));
    CHECK(same(ht::io::load(path, {.dataset = "g/t"}), values));
    const auto error = [&](const ht::io::SaveOptions& options) {
      return message_of<ht::ValueError>([&] { ht::io::save(cut(values), path, options); });
    };
    CHECK_THAT(error({.dataset = "u", .append = true}), Contains("\"u\", which"));
    CHECK_THAT(error({.dataset = "w", .append = true, .zarr_format = 5 - format}), Contains("expected the same"));
    CHECK(same(ht::io::load(path), values + 1));  // the only one in the root
    ht::io::save(cut(values), path, {.dataset = "v", .append = true});
    CHECK_THAT(message_of<ht::IoError>([&] { return ht::io::load(path); }), Contains("\"u\", \"v\""));
  }
}

TEST_CASE("a store can be the array itself", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  const auto values = counting({6, 5}, at::kInt);
  for (const int format : {2, 3}) {
    ht::io::save(cut(values), path, {.dataset = "/", .zarr_format = format});
    CHECK(fs::exists(fs::path(path) / (format == 2 ? ".zarray" : "zarr.json")));
    CHECK_FALSE(fs::exists(fs::path(path) / "data"));
    CHECK(same(ht::io::load(path, {.split = 1}), values));
    CHECK_THAT(message_of<ht::ValueError>([&] { ht::io::save(cut(values), path, {.dataset = "/", .append = true}); }),
               Contains("expected a name in the store"));
  }
}

TEST_CASE("paths lead into a store, and end as a shell completes them", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  const auto values = counting({6, 5}, at::kInt);
  ht::io::save(cut(values), path + "/", {.dataset = "t", .zarr_format = 3});
  ht::io::save(cut(values + 1), path + "/g/u");
  ht::io::save(cut(values + 2), path + "/g/u/");  // replaces the one before
  CHECK(names_in(path + "/") == std::vector<std::string>{"g/u", "t"});
  CHECK(names_in(path + "/g") == std::vector<std::string>{"u"});
  CHECK(consolidated(path, "g/u", 3) == own(path, "g/u", 3));
  CHECK(same(ht::io::load(path + "/t/", {.split = 0}), values));
  CHECK(same(ht::io::load(path + "/g", {.dataset = "u", .split = 0}), values + 2));
  CHECK(same(ht::io::load({path + "/t", path + "/g/u"}, {.split = 1}), at::cat({values, values + 2})));
  ht::io::append_rows(cut(values + 3), path + "/g/u/");
  CHECK(same(ht::io::load(path, {.dataset = "g/u", .split = 1}), at::cat({values + 2, values + 3})));
  CHECK(consolidated(path, "g/u", 3).at("shape") == nlohmann::json::array({12, 5}));
  ht::io::convert(ht::io::StoredArray(path + "/t"), path + "/v");
  ht::io::convert(ht::io::StoredArray(path + "/g/u"), dir.path("b.zarr/"));
  CHECK(names_in(path) == std::vector<std::string>{"g/u", "t", "v"});
  CHECK(same(ht::io::load(dir.path("b.zarr"), {.dataset = "data"}), at::cat({values + 2, values + 3})));
  CHECK(same(ht::io::load({path, dir.path("b.zarr")}, {.dataset = "t", .split = 0}), values));  // only b.zarr lacks it
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save(cut(values), dir.path("c.zip")); }), Contains("c.zip"));
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::save(cut(values), path + "/t/below"); }),
             Contains("below the array"));
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::save(cut(values), path + "/g"); }), Contains("is no array"));
  CHECK(same(ht::io::load(path + "/t"), values));
  CHECK(dir.names() == std::vector<std::string>{"a.zarr", "b.zarr"});
}

TEST_CASE("arrays of both formats grow in shards and groups", "[io][append]") {
  const TempDir dir;
  const auto global = counting({18, 5}, at::kDouble);
  int count = 0;
  for (const auto& first :
       {ht::io::SaveOptions{.dataset = "g/t"},
        ht::io::SaveOptions{.compression = "zstd", .chunks = {4, 3}, .zarr_format = 3},
        ht::io::SaveOptions{.dataset = "t", .compression = 1, .chunks = {2, 3}, .zarr_shards = {4, 6}}})
    for (const auto& layout : every_layout({7, 5})) {
      const auto path = dir.path("a" + std::to_string(count++) + ".zarr");
      const auto name = first.dataset.empty() ? "data" : first.dataset;
      const auto format = first.dataset == "g/t" ? 2 : 3;
      ht::io::append_rows(distribute(global.slice(0, 0, 7).contiguous(), layout), path, first);
      ht::io::append_rows(distribute(global.slice(0, 7, 14).contiguous(), layout), path, {.dataset = first.dataset});
      ht::io::append_rows(cut(global.slice(0, 14, 18), 1), path);
      CHECK(same(ht::io::load(path, {.split = layout.split()}), global));
      CHECK(consolidated(path, name, format) == own(path, name, format));
      CHECK(own(path, name, format).at("shape") == nlohmann::json::array({18, 5}));
    }
}

TEST_CASE("rows come into arrays of format 3 as others make them", "[io][append]") {
  const TempDir dir;
  const auto values = counting({7, 5}, at::kInt);
  const auto path = dir.path("a.zarr");
  const std::string turned = R"({"name": "transpose", "configuration": {"order": [1, 0]}}, )",
                    delta = R"({"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i8"}}, )",
                    big = R"({"name": "bytes", "configuration": {"endian": "big"}})",
                    more = R"(, {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}, {"name": "gzip"},
                           {"name": "crc32c"})";
  for (const auto& codecs : {little, turned + delta + big + more, shard_json("[2, 4]", turned + little, true) + more}) {
    INFO(codecs);
    on_root([&] { fs::remove_all(path), fs::create_directories(path); });
    auto described = array_json({codecs});
    write_bytes(path + "/zarr.json", described.replace(described.find("[7, 5]"), 6, "[0, 5]"));
    ht::io::append_rows(cut(values.slice(0, 0, 3)), path);
    ht::io::append_rows(cut(values.slice(0, 3, 7), 1), path);
    for (const auto& split : every_split({7, 5})) CHECK(same(ht::io::load(path, {.split = split}), values));
    if (codecs == little) CHECK(read_bytes(path + "/c/0/0") == bytes_of(values.slice(0, 0, 4).slice(1, 0, 4)));
  }
  const auto refused = [&](const std::string& codecs) {
    write_bytes(path + "/zarr.json", array_json({codecs}));
    return same_message<ht::IoError>([&] { ht::io::append_rows(cut(values), path); });
  };
  CHECK_THAT(refused(R"({"name": "numcodecs.quantize", "configuration": {"digits": 1}}, )" + little),
             Contains("filters that round") && Contains("convert"));
}

// Files that Python wrote, to be read by it again: zarr_test.py.
TEST_CASE("stores of Python are read, grow, and are written", "[.zarr_python]") {
  const fs::path folder(std::getenv("HEATPP_ZARR_FILES"));
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder / "in")) {
    if (entry.path().extension() == ".npy") continue;
    CAPTURE(entry.path().string());
    const auto values = ht::io::load(fs::path(entry.path()).replace_extension(".npy")).larray();
    for (const auto& split : every_split({37, 11})) {
      CHECK(same(ht::io::load(entry.path(), {.split = split}), values));
      CHECK(same(ht::io::load(entry.path(), {.split = split, .slices = {ht::slice(3, 37, 5), ht::slice(2, 9)}}),
                 values.slice(0, 3, 37, 5).slice(1, 2, 9)));
    }
    ++count;
  }
  CHECK(count > 20);
  for (const auto& entry : fs::directory_iterator(folder / "grow")) {
    CAPTURE(entry.path().string());
    const auto values = ht::io::load(folder / "in" / (entry.path().stem().string() + ".npy")).larray();
    ht::io::append_rows(cut(values.slice(0, 0, 10)), entry.path());
    ht::io::append_rows(cut(values.slice(0, 10, 37), 1), entry.path());
  }
  const auto values = ht::io::load(folder / "in/v3.npy").larray();
  const std::vector<std::pair<std::string, ht::io::SaveOptions>> kinds{
      {"v2", {}},
      {"v2.zstd", {.compression = "zstd", .chunks = {8, 5}}},
      {"v3", {.zarr_format = 3}},
      {"v3.blosc", {.compression = "blosc", .chunks = {8, 5}, .zarr_format = 3}},
      {"v3.gzip", {.compression = 3, .chunks = {8, 5}, .zarr_format = 3}},
      {"v3.shards", {.compression = "zstd", .chunks = {4, 5}, .zarr_shards = {16, 10}}}};
  for (const auto& [name, kind] : kinds) {
    auto options = kind;
    const auto path = folder / "out" / (name + ".zarr");
    options.dataset = "t";
    options.dimension_names = {"y", "x"};
    ht::io::append_rows(cut(values.slice(0, 0, 20), 1), path, options);
    ht::io::append_rows(cut(values.slice(0, 20, 37)), path);
    ht::io::save(cut(values + 1), path / "g/u");
  }
}
