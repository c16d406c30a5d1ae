#include "bytes.hpp"

#include <zlib.h>

namespace {

using Catch::Contains;

void add(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i, value >>= 8) text.push_back(static_cast<char>(value & 0xff));
}

std::string deflated_member(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Returns a handmade zip archive in the old format.
std::string zip(const std::vector<std::pair<std::string, std::string>>& files, int method, std::uint32_t wrong = 0) {
  std::string text, directory;
  for (const auto& [name, bytes] : files) {
    const auto stored = method == 8 ? deflated_member(bytes) : bytes;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())) ^ wrong;
    std::string common;
    add(common, 20, 2);
    add(common, 0, 2);
    add(common, static_cast<std::uint64_t>(method), 2);
    add(common, 0, 4);
    add(common, crc, 4);
    add(common, stored.size(), 4);
    add(common, bytes.size(), 4);
    add(common, name.size(), 2);
    add(common, 0, 2);
    add(directory, 0x02014b50, 4);
    add(directory, 20, 2);
    directory += common;
    add(directory, 0, 10);
    add(directory, text.size(), 4);
    directory += name;
    add(text, 0x04034b50, 4);
    text += common + name + stored;
  }
  const auto at = text.size();
  text += directory;
  add(text, 0x06054b50, 4);
  add(text, 0, 4);
  add(text, files.size(), 2);
  add(text, files.size(), 2);
  add(text, directory.size(), 4);
  add(text, at, 4);
  add(text, 3, 2);
  return text + "end";
}

}  // namespace

TEST_CASE("stored and deflated arrays load with every split", "[io][npz]") {
  const TempDir dir;
  const auto path = dir.path("a.npz");
  const auto x = counting({300, 40}), y = counting({5, 3}, at::kDouble);
  const int method = GENERATE(0, 8);
  write_bytes(path, zip({{"x.npy", npy("'<f4'", "(300, 40)", bytes_of(x))},
                         {"odd", "no array"},
                         {"group/y.npy", npy("'>f8'", "(5, 3)", bytes_of(y.t(), 8), true)}},
                        method));
  for (const auto& split : every_split({5, 3})) {
    CHECK(same(ht::io::load_npz(path, "x", {.split = split}), x));
    CHECK(same(ht::io::load_npz(path, "x", {.split = split, .slices = {ht::slice(5, 200, 7)}, .dtype = ht::int32}),
               x.slice(0, 5, 200, 7).to(at::kInt)));
    CHECK(same(ht::io::load(path, {.dataset = "group/y", .split = split}), y));
  }
  CHECK(ht::io::npz_names(path) == std::vector<std::string>{"x", "group/y"});
}

TEST_CASE("archives that are damaged or lack the array are errors on all ranks", "[io][npz]") {
  const TempDir dir;
  const auto path = dir.path("a.npz");
  const auto x = counting({200, 50});
  const auto file = npy("'<f4'", "(200, 50)", bytes_of(x));
  const auto error = [&](const std::string& bytes) {
    write_bytes(path, bytes);
    return same_message<ht::IoError>([&] { return ht::io::load_npz(path, "x", {.split = 0}); });
  };
  const auto whole = zip({{"x.npy", file}}, 8);
  CHECK_THAT(error("text"), Contains("no table of contents"));
  CHECK_THAT(error(whole.substr(0, whole.size() - 40)), Contains("no table of contents"));
  CHECK_THAT(error(zip({{"y.npy", file}}, 0)), Contains("no array \"x\"") && Contains("\"y\""));
  CHECK_THAT(error(zip({{"x.npy", file}}, 9)), Contains("method 9"));
  CHECK_THAT(error(zip({{"x.npy", file}}, 8, 1)), Contains("checksum"));
  CHECK_THAT(error(zip({{"x.npy", file.substr(0, file.size() - 4)}}, 8)), Contains("39996 bytes of elements"));
  auto damaged = whole;
  for (std::size_t i = 3000; i < 3050; ++i) damaged[i] = '\xff';
  CHECK_THAT(error(damaged), Contains("a.npz"));
  auto large = whole;
  large.replace(large.find("PK\x01\x02") + 24, 4, "\xff\xff\xff\x7f");
  CHECK_THAT(error(large), Contains("smaller than its contents"));
  write_bytes(path, zip({{"x.npy", file}, {"y.npy", file}}, 0));
  CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::load_npz(path, "", {}); }), Contains("2 arrays"));
}

TEST_CASE("arrays of every layout are saved in one file", "[io][npz]") {
  const TempDir dir;
  const auto path = dir.path("a.npz");
  const auto x = counting({7, 5}), y = counting({0, 3}, at::kLong), z = counting({}, at::kComplexDouble);
  for (const auto& layout : every_layout({7, 5})) {
    ht::io::save_npz({{"x", distribute(x, layout)},
                      {"y", distribute(y, ht::Layout({0, 3}, 0, ht::world().size()))},
                      {"z", distribute(z, ht::Layout({}, std::nullopt, ht::world().size()))}},
                     path);

    CHECK(ht::io::npz_names(path) == std::vector<std::string>{"x", "y", "z"});
    CHECK(same(ht::io::load_npz(path, "x", {.split = layout.split()}), x));
    CHECK(same(ht::io::load_npz(path, "y", {.split = 0}), y));
    CHECK(same(ht::io::load_npz(path, "z"), z));
    const auto bytes = read_bytes(path);
    const auto at = bytes.find("\x93NUMPY");
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + at), 128 + 7 * 5 * 4);
    std::string stored;
    add(stored, crc, 4);
    CHECK(bytes.substr(14, 4) == stored);
  }
  CHECK(dir.names() == std::vector<std::string>{"a.npz"});
}

TEST_CASE("arrays of every layout are saved compressed", "[io][npz]") {
  const TempDir dir;
  const auto path = dir.path("a.npz");
  const auto x = counting({300, 50}), y = counting({0, 3}, at::kLong), z = counting({}, at::kComplexDouble);
  for (const auto& layout : every_layout({300, 50})) {
    ht::io::save_npz({{"x", distribute(x, layout)},
                      {"y", distribute(y, ht::Layout({0, 3}, 0, ht::world().size()))},
                      {"z", distribute(z, ht::Layout({}, std::nullopt, ht::world().size()))}},
                     path, {.compression = 6});

    CHECK(ht::io::npz_names(path) == std::vector<std::string>{"x", "y", "z"});
    CHECK(same(ht::io::load_npz(path, "x", {.split = layout.split()}), x));
    CHECK(same(ht::io::load_npz(path, "y", {.split = 0}), y));
    CHECK(same(ht::io::load_npz(path, "z"), z));
    const auto bytes = read_bytes(path);
    CHECK(bytes.size() < 300 * 50 * 4 / 2);
    CHECK(bytes[8] == 8);  // the method: deflate
  }
}

TEST_CASE("bad arguments of save_npz are errors on all ranks", "[io][npz]") {
  const TempDir dir;
  const auto x = ht::arange(4, {.split = 0});
  const auto save = [&](const std::vector<ht::io::NamedArray>& arrays) {
    return [&dir, arrays] { ht::io::save_npz(arrays, dir.path("a.npz")); };
  };
  CHECK_THAT(same_message<ht::ValueError>(save({})), Contains("no arrays"));
  CHECK_THAT(same_message<ht::ValueError>(save({{"x", x}, {"x", x}})), Contains("\"x\""));
  CHECK_THAT(same_message<ht::ValueError>(save({{"", x}})), Contains("\"\""));
  CHECK_THAT(same_message<ht::ValueError>(save({{std::string("a\0b", 3), x}})), Contains("no NUL"));
  CHECK_THAT(same_message<ht::ValueError>([&] {
               ht::io::save_npz({{"x", x}}, dir.path("a.npz"), {.compression = 10});
             }),
             Contains("level 10"));
  if (ht::world().size() > 1)
    CHECK_FALSE(message_of<ht::CommError>(save({{"x", x}, {"y", ht::arange(4, {.comm = ht::self()})}})).empty());
  CHECK(dir.names().empty());
  ht::io::save(x, dir.path("b.npz"));
  CHECK(ht::io::npz_names(dir.path("b.npz")) == std::vector<std::string>{"arr_0"});
}

TEST_CASE("names beyond ASCII are marked as UTF-8", "[io][npz]") {
  const TempDir dir;
  const auto path = dir.path("a.npz");
  const auto x = counting({5, 2});
  for (const auto& layout : every_layout({5, 2}))
    for (const auto& [name, high] : {std::pair{std::string("gr\xc3\xb6\xc3\x9f"
                                                           "e"),
                                               '\x08'},
                                     {"size", '\0'}}) {
      ht::io::save_npz({{name, distribute(x, layout)}}, path);
      const auto bytes = read_bytes(path);
      CHECK(bytes.substr(6, 2) == std::string{'\0', high});
      CHECK(bytes.substr(bytes.find("PK\1\2") + 8, 2) == std::string{'\0', high});
      CHECK(same(ht::io::load_npz(path, name, {.split = 0}), x));
    }
}

TEST_CASE("the last output may come after the last input", "[io][npz]") {
  const TempDir dir;
  const auto path = dir.path("a.npz");
  for (const auto& [n, shape] : {std::pair{2, "(2,)"}, {3, "(3,)"}, {98305, "(98305,)"}}) {
    const auto x = at::zeros({n}, at::kDouble);
    write_bytes(path, zip({{"x.npy", npy("'<f8'", shape, bytes_of(x))}}, 8));
    for (const auto& split : every_split({n})) CHECK(same(ht::io::load_npz(path, "x", {.split = split}), x));
  }
}
