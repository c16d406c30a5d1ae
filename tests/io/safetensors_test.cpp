#include "bytes.hpp"

#include <heatpp_io/safetensors/safetensors.hpp>

namespace {

/// Returns a handmade file: the length of the header, the header, and elements.
std::string file_of(const std::string& header, const std::string& elements) {
  const auto length = static_cast<std::uint64_t>(header.size());
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + elements;
}

std::string entry(const std::string& name, const std::string& type, const std::string& shape, const std::string& at) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + at + "}";
}

}  // namespace

TEST_CASE("A file made by hand is read with every split", "[io][safetensors]") {
  const TempDir dir;
  const auto path = dir.path("x.safetensors");
  const auto numbers = counting({5, 3}, at::kFloat);
  const auto flags = counting({7}, at::kLong).remainder(2).to(at::kBool);
  const std::string header = "{\"__metadata__\":{\"a\":\"b\"}," + entry("x.weight", "F32", "[5,3]", "[0,60]") + "," +
                             entry("flags", "BOOL", "[7]", "[60,67]") + "," + entry("none", "I64", "[0,4]", "[67,67]") +
                             "," + entry("one", "U16", "[]", "[67,69]") + "}  ";
  write_bytes(path, file_of(header, bytes_of(numbers) + bytes_of(flags) + std::string("\xff\xff", 2)));

  for (const auto split : every_split({5, 3}))
    CHECK(same(ht::io::load_safetensors(path, "x.weight", {.split = split}), numbers));
  CHECK(same(ht::io::load_safetensors(path, "flags", {.split = 0}), flags));
  CHECK(same(ht::io::load_safetensors(path, "none", {.split = 1}), at::empty({0, 4}, at::kLong)));
  CHECK(same(ht::io::load_safetensors(path, "one"), at::scalar_tensor(65535, at::kInt)));
  CHECK(same(ht::io::load(path, {.dataset = "x.weight", .split = 0, .slices = {ht::slice(1, 4)}}),
             numbers.slice(0, 1, 4)));
  auto names = ht::io::safetensors_names(path);
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"flags", "none", "one", "x.weight"});
}

TEST_CASE("Arrays of every dtype and layout come back", "[io][safetensors]") {
  const TempDir dir;
  const auto path = dir.path("x.safetensors");
  for (const auto type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kBFloat16,
                          at::kFloat, at::kDouble, at::kComplexFloat}) {
    const auto x = counting({5, 3}, type);
    ht::io::save_safetensors({{"x", ht::from_local(x, {})}}, path);
    CHECK(same(ht::io::load_safetensors(path, "", {.split = 0}), x));
  }
  const auto global = counting({5, 3}, at::kFloat), scalar = at::scalar_tensor(3, at::kByte);
  for (const auto& layout : every_layout({5, 3})) {
    ht::io::save_safetensors({{"b", ht::from_local(scalar, {})}, {"a", distribute(global, layout)}}, path);
    CHECK(same(ht::io::load_safetensors(path, "a", {.split = 1}), global));
    CHECK(same(ht::io::load_safetensors(path, "b"), scalar));
  }
  CHECK_THAT(read_bytes(path).substr(8), Catch::StartsWith("{\"a\":{\"data_offsets\":[0,60],\"dtype\":\"F32\""));
}

TEST_CASE("Floats of eight bits become float32", "[io][safetensors]") {
  const TempDir dir;
  const auto path = dir.path("x.safetensors");
  write_bytes(path, file_of("{" + entry("x", "F8_E4M3", "[3]", "[0,3]") + "," + entry("y", "F8_E5M2", "[1]", "[3,4]") +
                                "," + entry("big", "U64", "[1]", "[4,12]") + "}",
                            std::string("\x38\x40\xb8\x3c", 4) + std::string(8, '\xff')));

  CHECK(same(ht::io::load_safetensors(path, "x", {.split = 0}), at::tensor({1.0f, 2.0f, -1.0f})));
  CHECK(same(ht::io::load_safetensors(path, "y"), at::tensor({1.0f})));
  CHECK_THROWS_AS(ht::io::load_safetensors(path, "big"), ht::Error);
}

TEST_CASE("A header is checked before it is used", "[io][safetensors]") {
  const TempDir dir;
  const auto path = dir.path("bad.safetensors");
  const auto good = entry("x", "F32", "[2]", "[0,8]");
  const std::string eight(8, '\0'), huge = "9223372036854775807", many = "{" + good + ",";
  const std::vector<std::pair<std::string, std::string>> damaged{
      {"no bytes", ""},
      {"half a length", "\1\0\0"},
      {"a length beyond the file", file_of("{" + good + "}", eight).replace(0, 8, "\xff\xff\xff\xff\xff\xff\xff\x7f")},
      {"a length of nothing", file_of("", eight)},
      {"no JSON", file_of("{\"x\":", eight)},
      {"no object", file_of("[1]", eight)},
      {"an entry without fields", file_of("{\"x\":{\"dtype\":\"F32\"}}", eight)},
      {"an unknown dtype", file_of("{" + entry("x", "F31", "[2]", "[0,8]") + "}", eight)},
      {"a negative extent", file_of("{" + entry("x", "F32", "[-2]", "[0,8]") + "}", eight)},
      {"an extent that is no whole number", file_of("{" + entry("x", "F32", "[2.5]", "[0,8]") + "}", eight)},
      {"a shape too large to count",
       file_of("{" + entry("x", "F32", "[" + huge + "," + huge + "]", "[0,8]") + "}", eight)},
      {"offsets beyond the file", file_of("{" + entry("x", "F32", "[3]", "[0,12]") + "}", eight)},
      {"offsets that are too far apart", file_of("{" + entry("x", "F32", "[1]", "[0,8]") + "}", eight)},
      {"offsets the wrong way round", file_of("{" + entry("x", "F32", "[2]", "[8,0]") + "}", eight)},
      {"tensors on top of each other", file_of(many + entry("y", "F32", "[1]", "[4,8]") + "}", eight)},
      {"a hole", file_of(many + entry("y", "F32", "[1]", "[12,16]") + "}", eight + eight)},
      {"bytes at the end", file_of("{" + good + "}", eight + "x")},
      {"metadata that are no texts", file_of("{\"__metadata__\":{\"a\":1}," + good + "}", eight)},
      {"deep nesting", file_of("{\"x\":" + std::string(100000, '['), eight)},
  };
  for (const auto& [what, bytes] : damaged) {
    write_bytes(path, bytes);
    INFO(what);
    const auto message = same_message<ht::IoError>([&] { (void)ht::io::load_safetensors(path, "x"); });
    CHECK_THAT(message, Catch::Contains("bad.safetensors"));
  }
  write_bytes(path, file_of("{" + good + "}", eight));
  CHECK(same(ht::io::load_safetensors(path, "x"), at::zeros({2})));
  CHECK_THROWS_AS(ht::io::load_safetensors(path, "y"), ht::IoError);
  write_bytes(path, file_of("{\"__metadata__\":null," + good + "}", eight));
  CHECK(same(ht::io::load_safetensors(path, "x"), at::zeros({2})));
}

TEST_CASE("names and dtypes that the format does not have are refused", "[io][safetensors]") {
  const TempDir dir;
  const auto path = dir.path("x.safetensors");
  const auto x = ht::from_local(counting({3}), {});

  CHECK_THROWS_AS(ht::io::save_safetensors({}, path), ht::ValueError);
  for (const std::string name : {"", "__metadata__"})
    CHECK_THROWS_AS(ht::io::save_safetensors({{name, x}}, path), ht::ValueError);
  CHECK_THROWS_AS(ht::io::save_safetensors({{"x", x}, {"x", x}}, path), ht::ValueError);
  CHECK_THROWS_AS(ht::io::save_safetensors({{"x", x.astype(ht::complex128)}}, path), ht::TypeError);
  CHECK_THROWS_AS(ht::io::save_safetensors({{"\xff", x}}, path), ht::ValueError);
  CHECK_THROWS_AS(ht::io::save_safetensors({{"x", x}}, path, {.metadata = {{"key", "\xff"}}}), ht::ValueError);
  CHECK_THROWS_AS(ht::io::save_safetensors({{"x", x}}, "/proc/none/x.safetensors"), ht::IoError);
  CHECK(dir.names().empty());
}
