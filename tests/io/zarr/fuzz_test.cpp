#include "written.hpp"

#include <heatpp_io/numpy/detail/zip.hpp>

#include <filesystem>
#include <random>

namespace {

namespace fs = std::filesystem;
namespace io = ht::io::detail;

/// A few random changes to a file.
class Damage {
 public:
  explicit Damage(std::uint64_t seed) : random_(seed) {}

  std::string of(std::string text) {
    for (auto changes = 1 + below(3); changes > 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }

  void change(std::string& text) {
    if (text.empty()) return;
    const auto at = below(text.size());
    const auto count = std::min(1 + below(12), text.size() - at);
    const auto digit = text.find_first_of("0123456789", at);
    static const std::vector<std::string> numbers{
        "-1",   "0",  "3",  "999999", "4611686018427387904", "9223372036854775807", "18446744073709551615", "1e30",
        "null", "[]", "{}", "\"\""};
    switch (below(7)) {
      case 0: text[at] = static_cast<char>(random_()); return;
      case 1: text[at] = static_cast<char>(text[at] ^ 1 << below(8)); return;
      case 2: text.erase(at, count); return;
      case 3: text.insert(at, text.substr(below(text.size()), count)); return;
      case 4: text.resize(at); return;
      case 5:
        for (std::size_t i = at; i < at + count; ++i) text[i] = static_cast<char>(below(2) == 0 ? 0 : 255);
        return;
      default:
        if (digit != std::string::npos) text.replace(digit, 1, numbers[below(numbers.size())]);
    }
  }

  std::mt19937_64 random_;
};

/// Returns 1 if the store is read, 0 if the library throws an error.
int outcome(const std::string& path, std::optional<int> split) {
  try {
    static_cast<void>(ht::io::load(path, {.split = split, .slices = {ht::slice(0, 7), ht::slice(0, 5)}}));
    static_cast<void>(ht::io::contents(path));
    return 1;
  } catch (const ht::Error&) {
    return 0;
  }
}

/// Damages a file repeatedly and then restores it. All ranks must agree on each outcome.
void damage(const std::string& store, const std::string& file, int tries, std::uint64_t seed) {
  const auto good = read_bytes(file);
  REQUIRE(!good.empty());
  Damage random(seed);
  std::array<std::int64_t, 2> errors{};
  for (int i = 0; i < tries; ++i) {
    const auto bad = random.of(good);
    write_bytes(file, bad);
    const std::int64_t read = outcome(store, i % 3 == 2 ? std::nullopt : std::optional(i % 3));
    std::array<std::int64_t, 2> least{read, -read};
    ht::world().allreduce(least, ht::ReduceOp::min);
    CHECK(least[0] == -least[1]);
    ++errors[static_cast<std::size_t>(read)];
  }
  CHECK((errors[0] > tries / 10 && errors[1] > 0));  // some changes leave the store readable
  write_bytes(file, good);
  CHECK(outcome(store, 0) == 1);
}

std::string packed(const at::Tensor& x) { return deflated(bytes_of(x), true); }

}  // namespace

TEST_CASE("damaged metadata, chunks and shards of Zarr end in errors", "[io][zarr][fuzz]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  const auto values = counting({7, 5}, at::kInt);
  on_root([&] { fs::create_directories(path); });
  const std::string filters = R"({"name": "transpose", "configuration": {"order": [1, 0]}},
      {"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}, )";
  write_bytes(path + "/zarr.json", array_json({filters + little + R"(, {"name": "gzip"}, {"name": "crc32c"})"}));
  write_chunks(path, values, {4, 4}, [](const at::Tensor& x) {
    const auto turned = x.t().reshape({-1});
    const auto delta = at::cat({turned.slice(0, 0, 1), turned.slice(0, 1) - turned.slice(0, 0, -1)});
    return packed(delta) + crc32c_of(packed(delta));
  });
  damage(path, path + "/zarr.json", 800, 1);
  for (const bool first : {false, true}) {
    write_bytes(path + "/zarr.json",
                array_json({shard_json("[2, 2]", little + R"(, {"name": "gzip"})", first, false)}));
    write_chunks(path, values, {4, 4}, [&](const at::Tensor& x) { return shard_of(x, {2, 2}, packed, first, false); });
    damage(path, path + "/zarr.json", 400, 2);
    damage(path, path + "/c/0/0", 400, 3);
  }
  write_bytes(path + "/zarr.json", array_json({shard_json("[2, 2]", little, false, false)}));
  write_chunks(path, values, {4, 4}, [](const at::Tensor& x) { return shard_of(x, {2, 2}, text_of, false, false); });
  damage(path, path + "/c/0/0", 400, 4);
}

TEST_CASE("damaged stores of Zarr's format 2, groups and zip files end in errors", "[io][zarr][fuzz]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  const auto values = counting({7, 5}, at::kInt);
  const auto x = distribute(values, ht::Layout({7, 5}, 0, ht::world().size()));
  for (const auto* codec : {"zstd", "lz4", "blosc", "gzip"}) {
    ht::io::save(x, path, {.compression = codec, .chunks = {4, 5}, .attributes = {{"units", "K"}}});
    damage(path, path + "/data/0.0", 200, 5);
  }
  damage(path, path + "/data/.zarray", 500, 6);
  ht::io::save(x, path, {.chunks = {7, 5}});
  const auto zarray = read_bytes(path + "/data/.zarray"), chunk = read_bytes(path + "/data/0.0");
  std::string archive;
  std::vector<io::ZipMember> members;
  for (const auto& [name, bytes] : {std::pair("t/.zarray", zarray), std::pair("t/0.0", chunk)}) {
    members.push_back({name, std::ssize(archive), std::ssize(bytes), std::ssize(bytes)});
    archive += io::zip_header(members.back()) + bytes;
  }
  write_bytes(dir.path("a.zip"), archive + io::zip_directory(members, std::ssize(archive)));
  damage(dir.path("a.zip"), dir.path("a.zip"), 1000, 7);
}
