#include "written.hpp"

#include <filesystem>

namespace {

using Catch::Contains;
namespace fs = std::filesystem;

/// Returns an array with a part that no shard holds, and one that is in a shard but in no part of it.
at::Tensor with_gaps() {
  auto values = counting({7, 5}, at::kInt);
  values.slice(0, 4, 7).slice(1, 0, 4).fill_(-1);
  values.slice(0, 0, 2).slice(1, 2, 4).fill_(-1);
  return values;
}

}  // namespace

TEST_CASE("arrays in shards load with every split", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  on_root([&] { fs::create_directories(path); });
  const auto global = with_gaps();
  const auto has = [](std::int64_t i, std::int64_t j) { return i != 1 || j != 0; };
  const std::string gzip = R"(, {"name": "gzip"})", sum = R"(, {"name": "crc32c"})",
                    turned = R"({"name": "transpose", "configuration": {"order": [1, 0]}}, )";
  const Encode packed = [](const at::Tensor& x) { return deflated(bytes_of(x), true); };
  const Encode summed = [](const at::Tensor& x) { return bytes_of(x) + crc32c_of(bytes_of(x)); };
  for (const bool first : {false, true}) {
    const auto write = [&](const std::string& codecs, const Encode& encode) {
      write_bytes(path + "/zarr.json", array_json({codecs}));
      write_chunks(path, global, {4, 4}, encode, has);
      check_reads(path, global);
    };
    write(shard_json("[2, 2]", little, first), [&](const at::Tensor& x) {
      return shard_of(x, {2, 2}, text_of, first);
    });
    write(shard_json("[2, 1]", little + gzip, first, false), [&](const at::Tensor& x) {
      return shard_of(x, {2, 1}, packed, first, false);
    });
    write(shard_json("[1, 4]", little + sum, first) + sum, [&](const at::Tensor& x) {
      const auto shard = shard_of(x, {1, 4}, summed, first);
      return shard + crc32c_of(shard);
    });
    write(shard_json("[4, 2]", shard_json("[2, 2]", turned + little, first), !first), [&](const at::Tensor& x) {
      const auto inner = [&](const at::Tensor& part) {
        return shard_of(
            part, {2, 2}, [](const at::Tensor& y) { return bytes_of(y.t()); }, first);
      };
      return shard_of(x, {4, 2}, inner, !first);
    });
    write(turned + shard_json("[1, 2]", little, first) + gzip, [&](const at::Tensor& x) {
      return deflated(shard_of(x.t(), {1, 2}, text_of, first), true);
    });
  }
}

TEST_CASE("shards that are damaged are errors on all ranks", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr"), chunk = path + "/c/0/0";
  on_root([&] { fs::create_directories(path); });
  write_bytes(path + "/zarr.json", array_json({shard_json("[2, 2]", little, false)}));
  const auto write = [&](bool sum) {
    write_chunks(path, counting({7, 5}, at::kInt), {4, 4}, [&](const at::Tensor& x) {
      return shard_of(x, {2, 2}, text_of, false, sum);
    });
  };
  const auto error = [&](const std::string& bytes) {
    write_bytes(chunk, bytes);
    return same_message<ht::IoError>([&] { return ht::io::load(path, {.split = 0}); });
  };
  write(true);
  auto good = read_bytes(chunk);
  CHECK_THAT(error(good.substr(0, 50)), Contains("shard \"" + chunk + "\" of 50 bytes") && Contains("68 or more"));
  CHECK_THAT(error(good.substr(0, good.size() - 1) + "x"), Contains("crc32c") && Contains("checksum"));
  write_bytes(path + "/zarr.json", array_json({shard_json("[2, 2]", little, false, false)}));
  write(false);
  good = read_bytes(chunk);
  const auto with_entry = [&](std::size_t at, const std::string& bytes) {
    auto bad = good;
    return bad.replace(good.size() - 64 + at, bytes.size(), bytes);
  };
  const std::string most(7, '\xff');
  CHECK_THAT(error(with_entry(0, std::string("\x71\0", 2))), Contains("16 bytes from byte 113 on"));
  CHECK_THAT(error(with_entry(8, most + '\x7f')), Contains("9223372036854775807 bytes"));
  CHECK_THAT(error(with_entry(0, most + '\x7f')), Contains("from byte 9223372036854775807"));
  CHECK_THAT(error(with_entry(0, most + '\xff')), Contains("from byte 18446744073709551615"));
  CHECK_THAT(error(with_entry(8, "\x0f")), Contains("of 15 bytes; expected 16"));
}

TEST_CASE("arrays are saved in shards, and in format 3, of every layout and dtype", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  const ht::Shape shape = GENERATE(ht::Shape{13, 5}, ht::Shape{3, 4, 5}, ht::Shape{0, 3}, ht::Shape{});
  const auto global = counting(shape);
  const ht::Shape twos(shape.size(), 2), sixes(shape.size(), 6);
  std::vector<ht::io::SaveOptions> kinds{{.zarr_format = 3}, {.compression = 3, .zarr_format = 3}};
  if (!shape.empty()) {
    kinds.push_back({.chunks = twos, .zarr_shards = sixes});
    kinds.push_back({.compression = "zstd", .chunks = twos, .zarr_shards = twos});
    kinds.push_back({.compression = "blosc", .zarr_shards = sixes});
    kinds.push_back({.compression = "lz4", .chunks = twos, .zarr_format = 3});
  }
  for (const auto& layout : every_layout(shape))
    for (const auto& options : kinds) {
      ht::io::save(distribute(global, layout), path, options);
      CHECK(same(ht::io::load(path, {.split = layout.split()}), global));
    }
  for (int i = 0; i < ht::dtype_count && shape.size() == 2; ++i) {
    const auto values = counting({13, 5}, at::kDouble).to(ht::to_torch(static_cast<ht::Dtype>(i)));
    ht::io::save(distribute(values, ht::Layout({13, 5}, 0, ht::world().size())), path,
                 {.chunks = {2, 5}, .zarr_shards = {4, 5}});
    CHECK(same(ht::io::load(path, {.split = 1}), values));
  }
}

TEST_CASE("a shard on the disk", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  const auto global = counting({4, 4}, at::kInt);
  for (const auto& layout : every_layout({4, 4})) {
    ht::io::save(distribute(global, layout), path, {.dataset = "t", .chunks = {2, 2}, .zarr_shards = {4, 4}});
    CHECK(read_bytes(path + "/t/c/0/0") == shard_of(global, {2, 2}, text_of, false));
  }
}
