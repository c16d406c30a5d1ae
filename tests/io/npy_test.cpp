#include "../scarce_memory.hpp"
#include "bytes.hpp"

#include <filesystem>

namespace {

using Catch::Contains;

std::string tuple(const ht::Shape& shape) { return ht::to_string(shape); }

at::Tensor reversed(const at::Tensor& values) {
  std::vector<std::int64_t> axes;
  for (auto axis = values.dim(); axis-- > 0;) axes.push_back(axis);
  return values.permute(axes);
}

std::string load_error(const std::string& path) {
  std::string text;
  for (const std::optional<int> split : {std::optional<int>(), std::optional(0)}) {
    text = same_message<ht::IoError>([&] { return ht::io::load_npy(path, {.split = split}); });
    CHECK_THAT(text, Catch::StartsWith("[load_npy] got "));
    CHECK_THAT(text, Contains("; expected "));
  }
  return text;
}

}  // namespace

TEST_CASE("NPY files of both orders load with every split", "[io][npy]") {
  const TempDir dir;
  const ht::Shape shape = GENERATE(ht::Shape{13, 5}, ht::Shape{2, 7, 3}, ht::Shape{1}, ht::Shape{0, 4}, ht::Shape{4, 0},
                                   ht::Shape{}, ht::Shape{300, 400}, ht::Shape{3, 40000});
  const auto global = counting(shape);
  write_bytes(dir.path("c.npy"), npy("'<f4'", tuple(shape), bytes_of(global)));
  write_bytes(dir.path("f.npy"), npy("'<f4'", tuple(shape), bytes_of(reversed(global)), true));
  for (const auto* file : {"c.npy", "f.npy"})
    for (const auto& split : every_split(shape)) {
      const auto x = ht::io::load_npy(dir.path(file), {.split = split});

      CHECK(x.split() == split);
      CHECK(x.is_balanced());
      CHECK(same(x, global));
      CHECK(same(ht::io::load_npy(dir.path(file), {.split = split, .dtype = ht::int64}), global.to(at::kLong)));
    }
}

TEST_CASE("slices of NPY files select as NumPy's do", "[io][npy]") {
  const TempDir dir;
  const auto global = counting({6, 30000}, at::kInt);
  write_bytes(dir.path("c.npy"), npy("'<i4'", "(6, 30000)", bytes_of(global)));
  write_bytes(dir.path("f.npy"), npy("'<i4'", "(6, 30000)", bytes_of(global.t()), true));
  const auto none = std::nullopt;
  const struct {
    std::vector<ht::Slice> slices;
    at::Tensor expected;
  } cases[] = {
      {{ht::slice(1, -1, 2)}, global.slice(0, 1, 5, 2)},
      {{ht::slice(none, none), ht::slice(7, 107)}, global.slice(1, 7, 107)},
      {{ht::slice(2, 5), ht::slice(none, none, 1000)}, global.slice(0, 2, 5).slice(1, 0, 30000, 1000)},
      {{ht::slice(5, 2)}, global.slice(0, 0, 0)},
  };
  for (const auto& [slices, expected] : cases)
    for (const auto* file : {"c.npy", "f.npy"})
      for (const auto& split : every_split({6, 30000}))
        CHECK(same(ht::io::load_npy(dir.path(file), {.split = split, .slices = slices}), expected));
}

TEST_CASE("versions, byte orders and types of NPY files", "[io][npy]") {
  const TempDir dir;
  const auto path = dir.path("a.npy");
  const auto global = counting({7, 2}, at::kInt) - 3;
  for (const char version : {'\1', '\2', '\3'}) {
    write_bytes(path, npy("'<i4'", "(7, 2)", bytes_of(global), false, version));
    CHECK(same(ht::io::load_npy(path, {.split = 0}), global));
  }
  const struct {
    const char* type;
    at::ScalarType stored;
    std::size_t unit;
    ht::Dtype dtype;
  } cases[] = {{"'>i2'", at::kShort, 2, ht::int16},
               {"'>i4'", at::kInt, 4, ht::int32},
               {"'>i8'", at::kLong, 8, ht::int64},
               {"'>f4'", at::kFloat, 4, ht::float32},
               {"'>f8'", at::kDouble, 8, ht::float64},
               {"'>c16'", at::kComplexDouble, 8, ht::complex128},
               {"'<f2'", at::kHalf, 1, ht::float16},
               {"'<V2'", at::kBFloat16, 1, ht::bfloat16},
               {"'<c8'", at::kComplexFloat, 1, ht::complex64},
               {"'|i1'", at::kChar, 1, ht::int8},
               {"\"<f8\"", at::kDouble, 1, ht::float64}};
  for (const auto& [type, stored, unit, dtype] : cases) {
    write_bytes(path, npy(type, "(7, 2)", bytes_of(global.to(stored), unit)));
    for (const auto& split : every_split({7, 2})) {
      CHECK(same(ht::io::load_npy(path, {.split = split}), global.to(ht::to_torch(dtype))));
      CHECK(same(ht::io::load_npy(path, {.split = split, .dtype = ht::complex128}), global.to(at::kComplexDouble)));
    }
  }
  const auto counted = counting({7, 2}, at::kLong);
  const struct {
    const char* type;
    at::ScalarType stored;
    std::size_t unit;
    ht::Dtype dtype;
  } wider[] = {{"'<u2'", at::kShort, 1, ht::int32},
               {"'>u2'", at::kShort, 2, ht::int32},
               {"'<u4'", at::kInt, 1, ht::int64},
               {"'>u8'", at::kLong, 8, ht::int64}};
  for (const auto& [type, stored, unit, dtype] : wider) {
    write_bytes(path, npy(type, "(7, 2)", bytes_of(counted.to(stored), unit)));
    CHECK(same(ht::io::load_npy(path, {.split = 0}), counted.to(ht::to_torch(dtype))));
    CHECK(same(ht::io::load_npy(path, {.split = 1, .dtype = ht::float64}), counted.to(at::kDouble)));
  }
  write_bytes(path, npy("'<u2'", "(2,)", "\xff\xff\x01\x00" + std::string(1, '\0')));
  CHECK(same(ht::io::load_npy(path, {.split = 0}), at::tensor({65535, 1}, at::kInt)));
  write_bytes(path, npy("'|b1'", "(3,)", std::string("\0\1\7", 3)));
  CHECK(same(ht::io::load_npy(path, {.split = 0}), at::tensor({0, 1, 1}, at::kInt).to(at::kBool)));
  write_bytes(path, npy("'<u8'", "(2,)", std::string(15, '\0') + '\x80'));
  CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::load_npy(path, {.split = 0}); }), Contains("2^63"));
  for (const auto dtype : {ht::float32, ht::float64, ht::complex128})
    CHECK(same(ht::io::load_npy(path, {.split = 0, .dtype = dtype}),
               at::tensor({0.0, 9223372036854775808.0}, at::kDouble).to(ht::to_torch(dtype))));
}

TEST_CASE("types in NumPy's letters, and as many axes as NumPy has", "[io][npy]") {
  const TempDir dir;
  const auto path = dir.path("a.npy");
  const auto global = counting({5}, at::kInt);
  const std::pair<const char*, at::ScalarType> letters[] = {
      {"'?'", at::kBool},   {"'B'", at::kByte},   {"'|b'", at::kChar},         {"'<h'", at::kShort},
      {"'i'", at::kInt},    {"'<q'", at::kLong},  {"'<l'", at::kLong},         {"'e'", at::kHalf},
      {"'<f'", at::kFloat}, {"'d'", at::kDouble}, {"'<F'", at::kComplexFloat}, {"'D'", at::kComplexDouble}};
  for (const auto& [letter, type] : letters) {
    write_bytes(path, npy(letter, "(5,)", bytes_of(global.to(type))));
    for (const auto& split : every_split({5})) CHECK(same(ht::io::load_npy(path, {.split = split}), global.to(type)));
  }
  write_bytes(path, npy("'>q'", "(5,)", bytes_of(global.to(at::kLong), 8)));
  CHECK(same(ht::io::load_npy(path, {.split = 0}), global.to(at::kLong)));
  for (const std::size_t axes : {33, 64}) {
    ht::Shape shape(axes, 1);
    shape.front() = 5;
    write_bytes(path, npy("'<i4'", tuple(shape), bytes_of(global)));
    for (const std::optional<int> split : {std::optional<int>(), std::optional(0), std::optional(32)})
      CHECK(same(ht::io::load_npy(path, {.split = split}), global.reshape(shape)));
  }
}

TEST_CASE("many NPY files are one array", "[io][npy]") {
  const TempDir dir;
  const auto global = counting({12, 3});
  for (const int i : {0, 1, 2, 10}) {
    const auto first = std::min(i, 3) * 3;
    write_bytes(dir.path("part-" + std::to_string(i) + ".npy"),
                npy("'<f4'", "(3, 3)", bytes_of(global.slice(0, first, first + 3)), false));
  }
  write_bytes(dir.path("notes.txt"), "no array");
  for (const auto& split : every_split({12, 3})) {
    CHECK(same(ht::io::load_npy(dir.path("part-*.npy"), {.split = split}), global));
    CHECK(same(ht::io::load_npy(dir.path(""), {.split = split}), global));
    CHECK(same(ht::io::load({dir.path("part-10.npy"), dir.path("part-0.npy")}, {.split = split}),
               at::cat({global.slice(0, 9), global.slice(0, 0, 3)})));
  }
  write_bytes(dir.path("wide.npy"), npy("'<f4'", "(1, 4)", std::string(16, '\0')));
  CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::load_npy(dir.path(""), {.split = 0}); }),
             Contains("wide.npy") && Contains("(1, 4)") && Contains("(3, 3)"));
  CHECK_THAT(load_error(dir.path("no-*.npy")), Contains("matches nothing"));
}

TEST_CASE("damaged NPY files are errors on all ranks", "[io][npy]") {
  const TempDir dir;
  const auto path = dir.path("a.npy");
  const auto error = [&](const std::string& bytes) {
    write_bytes(path, bytes);
    return load_error(path);
  };
  const auto whole = npy("'<f4'", "(2, 3)", std::string(24, '\0'));
  CHECK_THAT(load_error(dir.path("no.npy")), Contains("no.npy") && Contains("No such file"));
  CHECK_THAT(error(""), Contains("not in NPY format"));
  CHECK_THAT(error("PK" + whole), Contains("not in NPY format"));
  CHECK_THAT(error(whole.substr(0, 40)), Contains("a header of 116 bytes, and 40 bytes in all"));
  CHECK_THAT(error(whole.substr(0, whole.size() - 1)), Contains("23 bytes of elements; expected 24"));
  CHECK_THAT(error(npy("'<f4'", "(2, 3)", "", false, '\7')), Contains("version 7.0"));
  CHECK_THAT(error(npy("'<f4'", "(-2, 3)", "")), Contains("no extent"));
  CHECK_THAT(error(npy("'<f4'", "(4611686018427387904, 8)", "")), Contains("2^63"));
  CHECK_THAT(error(npy("'<f4'", "(99999999999999999999,)", "")), Contains("no extent"));
  CHECK_THAT(error(npy("'<f4'", "(2, 3", "")), Contains("no extent at 57"));
  CHECK_THAT(error(npy("[('a', '<f4'), ('b', '<i2')]", "(2,)", std::string(12, '\0'))), Contains("records"));
  CHECK_THAT(error(npy("'|O'", "(2,)", std::string(16, '\0'))), Contains("\"|O\""));
  CHECK_THAT(error(npy("'<U3'", "(2,)", std::string(24, '\0'))), Contains("\"<U3\""));
  CHECK_THAT(error(npy("'<f16'", "(1,)", std::string(16, '\0'))), Contains("\"<f16\""));
  CHECK_THAT(error(npy("'<f4'", "(2,), 'more': 1", "")), Contains("more"));
  CHECK_THAT(error(npy("'<f4'", std::string("(2,), 's\0s': 1", 14), "")), Contains("\"s\\x00s\"") && Contains("; exp"));
  CHECK_THAT(error(npy("'<f4'", "(2,), } {", std::string(8, '\0'))), Contains("more at 58"));
  CHECK_THAT(error(npy("'<f4'", "(2)", std::string(8, '\0'))), Contains("no ','"));
  CHECK_THAT(error(npy("'<f4'", tuple(ht::Shape(65, 1)), std::string(4, '\0'))),
             Contains("65 axes; expected at most 64"));
  auto two = npy("'<f4'", "(2,)", std::string(8, '\0'));
  two.replace(two.find("'shape': (2,)"), 13, "'descr': 'f4'");
  CHECK_THAT(error(two), Contains("2 keys"));
  auto minor = npy("'<f4'", "(2,)", std::string(8, '\0'));
  minor[7] = '\1';
  CHECK_THAT(error(minor), Contains("version 1.1"));
  write_bytes(path, npy("'<f8', 'descr': '<f4'", "(2,)", std::string(8, '\0')));
  CHECK(same(ht::io::load_npy(path), at::zeros({2})));
}

TEST_CASE("every layout and dtype is saved as NumPy saves it", "[io][npy]") {
  const TempDir dir;
  const auto path = dir.path("a.npy");
  const ht::Shape shape = GENERATE(ht::Shape{7, 5}, ht::Shape{3, 4, 5}, ht::Shape{1}, ht::Shape{0, 3}, ht::Shape{});
  const std::pair<ht::Dtype, const char*> types[] = {
      {ht::bool_, "'|b1'"},   {ht::uint8, "'|u1'"},   {ht::int8, "'|i1'"},      {ht::int16, "'<i2'"},
      {ht::int32, "'<i4'"},   {ht::int64, "'<i8'"},   {ht::float16, "'<f2'"},   {ht::bfloat16, "'<V2'"},
      {ht::float32, "'<f4'"}, {ht::float64, "'<f8'"}, {ht::complex64, "'<c8'"}, {ht::complex128, "'<c16'"}};
  for (const auto& [dtype, type] : types) {
    const auto global = counting(shape, at::kDouble).to(ht::to_torch(dtype));
    for (const auto& layout : every_layout(shape)) {
      ht::io::save_npy(distribute(global, layout), path);

      const auto bytes = read_bytes(path);
      const auto elements = bytes_of(global);
      CHECK((bytes.size() - elements.size()) % 64 == 0);
      CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\1\0", 8));
      CHECK_THAT(bytes, Contains(std::string("{'descr': ") + type +
                                 ", 'fortran_order': False, 'shape': " + tuple(shape) + ", }"));
      CHECK(bytes.substr(bytes.size() - elements.size()) == elements);
      CHECK(same(ht::io::load(path, {.split = layout.split()}), global));
    }
  }
  CHECK(dir.names() == std::vector<std::string>{"a.npy"});
}

TEST_CASE("NPY files by extension, and one per rank", "[io][npy]") {
  const TempDir dir;
  const auto global = counting({9, 2});
  for (const auto& layout : every_layout({9, 2})) {
    ht::io::save(distribute(global, layout), dir.path("s-{rank}.npy"), {.shards = true});
    CHECK(std::ssize(dir.names()) == ht::world().size());
    CHECK(same(ht::io::load(dir.path("s-*.npy"), {.split = 0}), global));
  }
  const auto x = ht::arange(4, {.split = 0});
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save(x, dir.path("a.npy"), {.compression = 1}); }),
             Contains(".npy"));
  for (const auto* name : {"a.csv", "a.npz", "a.safetensors"})
    CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save(x, dir.path(name), {.shards = true}); }),
               Contains("shards"));
  for (const auto* name : {"a.csv", "a.npy"}) {
    CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save(x, dir.path(name), {.dataset = "x"}); }),
               Contains("dataset"));
    CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::load(dir.path(name), {.dataset = "x"}); }),
               Contains("dataset"));
  }
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::save_npy(x, dir.path("no/a.npy")); }), Contains("no/a.npy"));
}

TEST_CASE("A file for which one rank has no memory is one error on all ranks", "[io][npy]") {
  const TempDir dir;
  const auto path = dir.path("large.npy");
  on_root([&] {
    std::string head = "{'descr': '|u1', 'fortran_order': False, 'shape': (536870912,), }";
    head.resize(117, ' ');
    std::ofstream(path, std::ios::binary) << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << head << '\n';
    std::filesystem::resize_file(path, 128 + (std::uintmax_t{512} << 20));
  });

  for (const std::optional<int> split : {std::optional<int>{}, std::optional(0)}) {
    const ScarceMemory scarce;
    const auto text = message_of<ht::Error>([&] { return ht::io::load_npy(path, {.split = split}); });
    CHECK_THAT(text, Catch::StartsWith("[load_npy] got no memory for a block of shape ("));
  }
  CHECK(same(ht::io::load_npy(path, {.slices = {ht::slice(0, 3)}}), at::zeros({3}, at::kByte)));
}
