#include "../bytes.hpp"

#include <heatpp_io/detail/elements/decoded_numbers.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace {

using Catch::Contains;
using ht::io::Attributes;
namespace fs = std::filesystem;

constexpr auto no_value = std::numeric_limits<double>::quiet_NaN();

/// How an array is stored, its attributes, and what xarray 2026.9 reads.
struct Case {
  const char* name;
  at::ScalarType type;
  std::vector<double> values;
  Attributes said;
  at::ScalarType meant;
  std::vector<double> expected;
};

at::Tensor tensor(const std::vector<double>& values, at::ScalarType type) {
  return at::tensor(values, at::kDouble).to(type);
}

const std::vector<std::int64_t> two_markers{-99, 7}, limits{0, 100};
const std::vector<Case> cases{
    {"packed and unsigned",
     at::kShort,
     {32767, -32768, -25536, -1},
     {{"_FillValue", -1}, {"_Unsigned", "true"}, {"scale_factor", 0.1F}, {"add_offset", -20.0F}},
     at::kFloat,
     {3256.699951171875, 3256.800048828125, 3980, no_value}},
    {"unsigned bytes", at::kChar, {-1, 0, 5}, {{"_Unsigned", "true"}}, at::kByte, {255, 0, 5}},
    {"unsigned bytes with a marker",
     at::kChar,
     {-1, -2, 5},
     {{"_Unsigned", "true"}, {"_FillValue", -1}},
     at::kFloat,
     {no_value, 254, 5}},
    {"unsigned 32 bits", at::kInt, {-1, 0, 5}, {{"_Unsigned", "true"}}, at::kLong, {4294967295, 0, 5}},
    {"unsigned 32 bits with a marker",
     at::kInt,
     {-1, -2, 5},
     {{"_Unsigned", "true"}, {"_FillValue", -1}},
     at::kDouble,
     {no_value, 4294967294, 5}},
    {"signed bytes", at::kByte, {255, 0, 5}, {{"_Unsigned", "false"}}, at::kChar, {-1, 0, 5}},
    {"signed bytes with a marker",
     at::kByte,
     {255, 254, 5},
     {{"_Unsigned", "false"}, {"_FillValue", 255}},
     at::kFloat,
     {no_value, -2, 5}},
    {"_Unsigned of floats", at::kFloat, {-1, 2}, {{"_Unsigned", "true"}}, at::kFloat, {-1, 2}},
    {"16 bits with a marker", at::kShort, {1, -9, 5}, {{"_FillValue", -9}}, at::kFloat, {1, no_value, 5}},
    {"32 bits with a marker", at::kInt, {1, -9, 16777217}, {{"_FillValue", -9}}, at::kDouble, {1, no_value, 16777217}},
    {"64 bits with a marker", at::kLong, {1, -9, 5}, {{"_FillValue", -9}}, at::kDouble, {1, no_value, 5}},
    {"floats with a marker", at::kFloat, {1, -9999, 5}, {{"_FillValue", -9999.0}}, at::kFloat, {1, no_value, 5}},
    {"halves with a marker", at::kHalf, {1, -9, 5}, {{"_FillValue", -9.0}}, at::kHalf, {1, no_value, 5}},
    {"several markers",
     at::kShort,
     {1, -99, 5, 7},
     {{"missing_value", two_markers}},
     at::kFloat,
     {1, no_value, 5, no_value}},
    {"both kinds of markers",
     at::kShort,
     {1, -9, -8},
     {{"_FillValue", -9}, {"missing_value", -8}},
     at::kFloat,
     {1, no_value, no_value}},
    {"a marker in another type", at::kShort, {1, -99, 5}, {{"missing_value", -99.0}}, at::kFloat, {1, no_value, 5}},
    {"a marker that no element is", at::kShort, {1, -99, 5}, {{"missing_value", -99.5}}, at::kFloat, {1, -99, 5}},
    {"a marker beyond the dtype", at::kChar, {1, -1, 5}, {{"missing_value", 255}}, at::kFloat, {1, -1, 5}},
    {"a marker that is no float32", at::kFloat, {1, 0.1, 5}, {{"missing_value", 0.1}}, at::kFloat, {1, 0.1, 5}},
    {"NaN as marker of whole numbers", at::kShort, {1, -99}, {{"missing_value", no_value}}, at::kShort, {1, -99}},
    {"NaN as marker of floats", at::kFloat, {1, no_value}, {{"_FillValue", no_value}}, at::kFloat, {1, no_value}},
    {"a default fill value alone", at::kFloat, {1, 9.969209968386869e+36}, {}, at::kFloat, {1, 9.969209968386869e+36}},
    {"a scale in float32", at::kShort, {1, 2}, {{"scale_factor", 0.1F}}, at::kFloat, {0.1F, 0.2F}},
    {"a scale in float64", at::kShort, {1, 2}, {{"scale_factor", 0.1}}, at::kDouble, {0.1, 0.2}},
    {"an offset in float32", at::kShort, {1, 2}, {{"add_offset", 0.5F}}, at::kDouble, {1.5, 2.5}},
    {"scale and offset in float32",
     at::kShort,
     {1, 2},
     {{"scale_factor", 0.1F}, {"add_offset", 0.1F}},
     at::kFloat,
     {0.2F, 0.3F}},
    {"scale and offset of both types",
     at::kShort,
     {1, 2},
     {{"scale_factor", 0.5F}, {"add_offset", 0.25}},
     at::kDouble,
     {0.75, 1.25}},
    {"32 bits, a scale in float32", at::kInt, {1, 2}, {{"scale_factor", 0.5F}}, at::kFloat, {0.5, 1}},
    {"32 bits, both in float32",
     at::kInt,
     {1, 2},
     {{"scale_factor", 0.5F}, {"add_offset", 0.25F}},
     at::kDouble,
     {0.75, 1.25}},
    {"floats, a scale in float64", at::kFloat, {1, 2}, {{"scale_factor", 0.1}}, at::kDouble, {0.1, 0.2}},
    {"a list of one scale", at::kShort, {1, 2}, {{"scale_factor", std::vector<double>{0.5}}}, at::kDouble, {0.5, 1}},
    {"packed with a marker",
     at::kShort,
     {10, -32768, 150},
     {{"scale_factor", 0.01}, {"add_offset", 280.0}, {"_FillValue", -32768}},
     at::kDouble,
     {280.1, no_value, 281.5}},
    // Bounds have the meaning of netCDF4; xarray leaves them to the reader.
    {"a range", at::kShort, {1, 50, -5, 200}, {{"valid_range", limits}}, at::kFloat, {1, 50, no_value, no_value}},
    {"a lower bound", at::kShort, {1, -5, 200}, {{"valid_min", 0}}, at::kFloat, {1, no_value, 200}},
    {"bounds of floats",
     at::kFloat,
     {1, no_value, -5, 200},
     {{"valid_min", 0.0F}, {"valid_max", 100.0F}},
     at::kFloat,
     {1, no_value, no_value, no_value}},
    {"a range of packed numbers",
     at::kShort,
     {1, 50, -5, 200},
     {{"valid_range", limits}, {"scale_factor", 0.5}},
     at::kDouble,
     {0.5, 25, no_value, no_value}},
    {"a range before bounds",
     at::kShort,
     {1, 50, -5},
     {{"valid_range", limits}, {"valid_min", 40}},
     at::kFloat,
     {1, 50, no_value}},
    {"an unsigned range",
     at::kChar,
     {1, -5, -1},
     {{"valid_range", std::vector<std::int64_t>{0, -2}}, {"_Unsigned", "true"}},
     at::kFloat,
     {1, 251, no_value}},
    {"a bound that no element is", at::kShort, {1, -5}, {{"valid_min", 0.5}}, at::kShort, {1, -5}},
    {"a range in words", at::kShort, {1, -5}, {{"valid_range", "0, 100"}}, at::kShort, {1, -5}},
    {"bytes that are bool", at::kChar, {0, 1, -1}, {{"dtype", "bool"}}, at::kBool, {0, 1, 1}}};

std::vector<std::string> formats_of(const Case& one) {
  std::vector<std::string> all{"h5"};
  const auto is_single = [](const auto& each) { return std::holds_alternative<float>(each.second); };
  if (std::ranges::none_of(one.said, is_single)) all.emplace_back("zarr");  // its JSON has no float32
  if (ht::io::supports_netcdf() && one.type != at::kHalf && !one.said.contains("dtype")) all.emplace_back("nc");
  return all;
}

ht::DNDarray spread(const at::Tensor& values) {
  return distribute(values, ht::Layout({values.numel()}, 0, ht::world().size()));
}

/// Writes an array in Zarr's format 3, in one chunk.
void write_zarr_3(const std::string& path, const std::string& type, const at::Tensor& values, const std::string& fill,
                  const std::string& attributes) {
  on_root([&] { fs::create_directories(path + "/c"); });
  const auto count = std::to_string(values.numel());
  write_bytes(path + "/zarr.json",
              R"({"zarr_format": 3, "node_type": "array", "shape": [)" + count + R"(], "data_type": ")" + type +
                  R"(", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [)" + count +
                  R"(]}}, "chunk_key_encoding": {"name": "default"}, "fill_value": )" + fill +
                  R"(, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "dimension_names": ["x"],
                   "attributes": )" +
                  attributes + "}");
  write_bytes(path + "/c/0", bytes_of(values));
}

/// Writes an array in Zarr's format 2, in one chunk.
void write_zarr_2(const std::string& path, const std::string& type, const at::Tensor& values, const std::string& fill,
                  const std::string& attributes) {
  on_root([&] { fs::create_directories(path); });
  const auto count = "[" + std::to_string(values.numel()) + "]";
  write_bytes(path + "/.zarray", R"({"zarr_format": 2, "shape": )" + count + R"(, "chunks": )" + count +
                                     R"(, "dtype": ")" + type + R"(", "compressor": null, "order": "C", "filters": null,
                                     "fill_value": )" +
                                     fill + "}");
  write_bytes(path + "/.zattrs", attributes);
  write_bytes(path + "/0", bytes_of(values));
}

}  // namespace

TEST_CASE("attributes decode stored numbers, in every format and for every split", "[io][decoding]") {
  const TempDir dir;
  for (const auto& one : cases) {
    const auto stored = tensor(one.values, one.type), expected = tensor(one.expected, one.meant);
    for (const auto& format : formats_of(one)) {
      INFO(one.name << " in " << format);
      const auto path = dir.path("x." + format);
      ht::io::save(spread(stored), path, {.attributes = one.said});
      for (const auto& split : every_split({stored.numel()}))
        CHECK(same(ht::io::load(path, {.split = split}), expected));
      CHECK(same(ht::io::load(path, {.slices = {ht::slice(1, {})}, .dtype = ht::float64}),
                 expected.slice(0, 1).to(at::kDouble)));
      CHECK(same(ht::io::load(path, {.split = 0, .decode = false}), one.meant == at::kBool ? expected : stored));
      CHECK(ht::io::contents(path).at(0).dtype == ht::io::load(path, {.split = 0}).dtype());
      CHECK(same(ht::io::StoredArray(path).all(), expected));
      CHECK(same(ht::io::StoredArray(path, {.decode = false}).all(), one.meant == at::kBool ? expected : stored));
    }
  }
}

TEST_CASE("unsigned numbers of 64 bits are decoded beyond the range of int64", "[io][decoding]") {
  const ht::io::detail::StoredNumbers unsigned_64{{ht::int64, true}, 8, true};
  const auto bits = at::tensor({std::int64_t{-1}, std::int64_t{INT64_MIN}, std::int64_t{5}});
  const auto decoded = [&](const Attributes& said) {
    const auto decoding = ht::io::detail::decoding_of(said, unsigned_64, "x", "test");
    return ht::io::detail::decoded_numbers(decoding, bits.clone(), "x", "test");
  };

  CHECK(equals(decoded({{"_FillValue", 5}}).nan_to_num(-7), at::tensor({0x1p64, 0x1p63, -7.0}, at::kDouble)));
  CHECK(equals(decoded({{"_FillValue", 0x1p64}}).nan_to_num(-7), at::tensor({-7.0, 0x1p63, 5.0}, at::kDouble)));
  CHECK(equals(decoded({{"_Unsigned", "false"}}), bits));
  CHECK_THROWS_WITH(decoded({}), Contains("2^63"));
}

TEST_CASE("missing numbers in Zarr's formats are those of xarray", "[io][decoding][zarr]") {
  const TempDir dir;
  const auto packed = tensor({10, -32768, 150}, at::kShort), unpacked = tensor({280.1, no_value, 281.5}, at::kDouble);
  const auto floats = tensor({1, -9999, 3}, at::kFloat), known = tensor({1, no_value, 3}, at::kFloat);
  const std::string packing = R"("scale_factor": 0.01, "add_offset": 280.0)", named = R"("_ARRAY_DIMENSIONS": ["x"])";
  const auto check = [&](const std::string& path, const at::Tensor& stored, const at::Tensor& expected) {
    INFO(path);
    for (const auto& split : every_split({3})) CHECK(same(ht::io::load(path, {.split = split}), expected));
    CHECK(same(ht::io::load(path, {.decode = false}), stored));
  };

  write_zarr_2(dir.path("packed2.zarr"), "<i2", packed, "-32768", "{" + packing + ", " + named + "}");
  check(dir.path("packed2.zarr"), packed, unpacked);
  write_zarr_3(dir.path("packed3.zarr"), "int16", packed, "0", R"({"_FillValue": -32768, )" + packing + "}");
  check(dir.path("packed3.zarr"), packed, unpacked);
  write_zarr_2(dir.path("floats2.zarr"), "<f4", floats, "-9999.0", "{" + named + "}");
  check(dir.path("floats2.zarr"), floats, known);
  write_zarr_2(dir.path("unwritten.zarr"), "<f4", floats, "-9999.0", "{}");  // the value of missing chunks
  check(dir.path("unwritten.zarr"), floats, floats);
  write_zarr_3(dir.path("floats3.zarr"), "float32", floats, "\"NaN\"", R"({"_FillValue": "AAAAAICHw8A="})");
  check(dir.path("floats3.zarr"), floats, known);
  for (const auto* wrong : {"AAAAAICHw8", "AAAAAICHw8B=", "\\u00c4AAAAICHw8A=", "-9999"}) {
    write_zarr_3(dir.path("text.zarr"), "float32", floats, "0", std::string(R"({"_FillValue": ")") + wrong + "\"}");
    check(dir.path("text.zarr"), floats, floats);
  }
  const auto numbers = at::complex(floats, tensor({1, 0, 3}, at::kFloat));
  const auto missing = at::complex(known[1], known[1]);
  write_zarr_3(dir.path("complex.zarr"), "complex64", numbers, "[0.0, 0.0]",
               R"({"_FillValue": ["AAAAAICHw8A=", "AAAAAAAAAAA="]})");
  const auto z = gathered(ht::io::load(dir.path("complex.zarr"), {.split = 0}));
  CHECK(equals(at::view_as_real(z).nan_to_num(-7),
               at::view_as_real(numbers.masked_fill(floats == -9999, missing)).nan_to_num(-7)));
}

TEST_CASE("A scale that is no number is an error that names the way out", "[io][decoding][errors]") {
  const TempDir dir;
  for (const std::string format : {"h5", "zarr"})
    for (const auto& wrong : {ht::io::Attribute("0.1"), ht::io::Attribute(std::vector<double>{1, 2})}) {
      const auto path = dir.path("x." + format);
      ht::io::save(spread(counting({3}, at::kShort)), path, {.attributes = {{"scale_factor", wrong}}});
      CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load(path, {.split = 0}); }),
                 Contains("numbers in scale_factor") && Contains("decode = false"));
    }
}

TEST_CASE("Rows of files are decoded, too", "[io][decoding]") {
  const TempDir dir;
  const auto stored = counting({12, 2}, at::kShort);
  const auto expected = (stored.to(at::kDouble) * 0.5).masked_fill(stored == 5, NAN);
  const Attributes said{{"scale_factor", 0.5}, {"_FillValue", 5}};
  const auto x = distribute(stored, ht::Layout({12, 2}, 0, ht::world().size()));
  ht::io::save(x, dir.path("x.h5"), {.chunks = {5, 2}, .attributes = said});
  const ht::io::StoredRows rows(dir.path("x.h5"), "data"), raw(dir.path("x.h5"), "data", {.decode = false});
  const std::vector<std::int64_t> wanted{1, 2, 7};

  CHECK(equals(rows.read(wanted).nan_to_num(-7), expected.index_select(0, at::tensor(wanted)).nan_to_num(-7)));
  CHECK(equals(raw.read(wanted), stored.index_select(0, at::tensor(wanted))));
}

TEST_CASE("Chunks of which a row is too much are decoded one by one", "[io][decoding]") {
  const TempDir dir;
  const auto path = dir.path("x.zarr");
  const auto stored = at::arange(2 * 9'000'000, at::kInt).remainder(100).to(at::kChar).view({2, 9'000'000});
  const auto x = distribute(stored, ht::Layout({2, 9'000'000}, 1, ht::world().size()));
  ht::io::save(x, path, {.chunks = {2, 3'000'000}, .attributes = {{"_FillValue", 7}}});

  const auto y = ht::io::load(path, {.slices = {ht::Slice{}, ht::slice(1, {}, 2)}});
  const auto part = stored.slice(1, 1, {}, 2);
  CHECK(same(y, part.to(at::kFloat).masked_fill(part == 7, NAN)));
}

TEST_CASE("convert keeps stored numbers and their attributes", "[io][decoding]") {
  const TempDir dir;
  for (const auto& one : cases)
    for (const auto& from : formats_of(one)) {
      const auto path = dir.path("x." + from);
      ht::io::save(spread(tensor(one.values, one.type)), path, {.dimension_names = {"t"}, .attributes = one.said});
      for (const auto& to : formats_of(one)) {
        INFO(one.name << " from " << from << " to " << to);
        const auto copy = dir.path("y." + to);
        ht::io::convert(ht::io::StoredArray(path), copy);
        CHECK(same(ht::io::load(copy, {.split = 0}), tensor(one.expected, one.meant)));
        const bool flag = one.meant == at::kBool;
        CHECK(same(ht::io::load(copy, {.decode = false}),
                   flag ? tensor(one.expected, one.meant) : tensor(one.values, one.type)));
        const ht::io::StoredArray kept(copy, {.decode = false});
        for (const auto& [name, value] : one.said) CHECK((flag || kept.info().attributes.contains(name)));
        CHECK(kept.info().dimension_names == std::vector<std::string>{"t"});
      }
      ht::io::convert(ht::io::StoredArray(path), dir.path("y.npy"));  // it has no attributes
      CHECK(same(ht::io::load(dir.path("y.npy")), tensor(one.expected, one.meant)));
    }
}

TEST_CASE("convert decodes numbers whose attributes the new file cannot store", "[io][decoding]") {
  const TempDir dir;
  for (const int i : {0, 1})
    ht::io::save(spread(counting({3}, at::kShort)), dir.path("part-" + std::to_string(i) + ".h5"),
                 {.attributes = {{"scale_factor", i + 0.5}, {"_FillValue", 1}}});
  const auto expected = tensor({0, no_value, 1, 0, no_value, 3}, at::kDouble);
  const ht::io::StoredArray x(dir.path("part-*.h5"));

  CHECK(same(x.all(), expected));
  ht::io::convert(x, dir.path("y.zarr"));
  CHECK(same(ht::io::load(dir.path("y.zarr"), {.decode = false}), expected));
  const ht::io::StoredArray wide(dir.path("part-0.h5"), {.dtype = ht::float32});
  ht::io::convert(wide, dir.path("y.h5"));
  CHECK(same(ht::io::load(dir.path("y.h5"), {.decode = false}), tensor({0, no_value, 1}, at::kFloat)));
}

TEST_CASE("Unsigned numbers keep their bits and their meaning on their way to other files", "[io][decoding]") {
  const TempDir dir;
  const auto bits = tensor({-1, -2, 5}, at::kShort);
  const auto expected = tensor({no_value, 65534, 5}, at::kFloat);
  write_zarr_2(dir.path("x.zarr"), "<u2", bits, "65535", R"({"_ARRAY_DIMENSIONS": ["x"]})");
  CHECK(same(ht::io::load(dir.path("x.zarr"), {.split = 0}), expected));
  CHECK(same(ht::io::load(dir.path("x.zarr"), {.decode = false}), tensor({65535, 65534, 5}, at::kInt)));
  for (const std::string to : {"h5", "zarr", "nc"}) {
    if (to == "nc" && !ht::io::supports_netcdf()) continue;
    INFO(to);
    ht::io::convert(ht::io::StoredArray(dir.path("x.zarr")), dir.path("y." + to));
    CHECK(same(ht::io::load(dir.path("y." + to), {.decode = false}), bits));
    CHECK(same(ht::io::load(dir.path("y." + to), {.split = 0}), expected));
  }
  write_zarr_2(dir.path("plain.zarr"), "<u2", bits, "null", R"({"_ARRAY_DIMENSIONS": ["x"]})");
  ht::io::convert(ht::io::StoredArray(dir.path("plain.zarr")), dir.path("y.h5"));
  CHECK(same(ht::io::load(dir.path("y.h5"), {.decode = false}), tensor({65535, 65534, 5}, at::kInt)));
}

// Files that Python's libraries wrote, to be read by them again: decoding_test.py.
TEST_CASE("files of Python's libraries are loaded, and converted with their decoding attributes", "[.decoded]") {
  const fs::path root = std::getenv("HEATPP_DECODED_FILES");
  std::vector<std::string> stems;
  for (const auto& entry : fs::directory_iterator(root / "in")) stems.push_back(entry.path().filename().string());
  std::ranges::sort(stems);
  for (const auto& stem : stems) {
    const auto path = (root / "in" / stem).string(), name = std::string("v");
    INFO(path);
    ht::io::save(ht::io::load(path, {.dataset = name, .split = 0}), (root / "out" / (stem + ".npy")).string());
    const ht::io::StoredArray x(path, {.dataset = name});
    for (const std::string to : {"h5", "nc", "zarr", "v3.zarr"})
      if (to != "nc" || !ht::is_complex(x.dtype()))  // netCDF does not have these
        ht::io::convert(x, (root / "out" / (stem + "." + to)).string(),
                        {.save = {.dataset = name, .zarr_format = to == "v3.zarr" ? std::optional(3) : std::nullopt}});
  }
}

// Runs in its own process, in which nothing was compressed before.
TEST_CASE("netCDF's first variable of a process may be compressed by any codec", "[.filtered]") {
  const std::string path = std::getenv("HEATPP_FILTERED_FILE");
  CHECK(same(ht::io::load(path, {.dataset = "v", .split = 0}), counting({1000})));
  CHECK(ht::io::contents(path).at(0).compressed);
}
