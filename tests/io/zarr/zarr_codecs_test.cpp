#include "written.hpp"

#include <heatpp_io/detail/codecs/crc32c.hpp>
#include <heatpp_io/numpy/detail/zip.hpp>

#include <fmt/format.h>
#include <filesystem>
#include <fstream>
#include <zlib.h>

namespace {

using Catch::Contains;
namespace fs = std::filesystem;
namespace io = ht::io::detail;

std::string filter(const std::string& name, const std::string& configuration) {
  return fmt::format(R"({{"name": "{}", "configuration": {}}})", name, configuration);
}

/// Returns the first bytes of all elements, then the second ones, ...
std::string shuffled(const std::string& bytes, std::size_t itemsize) {
  std::string out;
  for (std::size_t byte = 0; byte < itemsize; ++byte)
    for (std::size_t i = byte; i < bytes.size(); i += itemsize) out.push_back(bytes[i]);
  return out;
}

at::Tensor differences(const at::Tensor& x) {
  const auto flat = x.reshape({-1});
  return at::cat({flat.slice(0, 0, 1), flat.slice(0, 1) - flat.slice(0, 0, -1)});
}

std::string sum_of(const std::string& bytes) {
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  std::string text;
  for (int i = 0; i < 4; ++i) text.push_back(static_cast<char>(sum >> 8 * i & 255));
  return text;
}

}  // namespace

TEST_CASE("the checksum of RFC 3720", "[io][codecs]") {
  const auto sum = [](std::string_view text) { return io::crc32c(std::as_bytes(std::span(text))); };
  CHECK(sum("123456789") == 0xe3069283);
  CHECK(sum(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(sum(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(sum("") == 0);
}

TEST_CASE("chunks are read through filters, checksums and other orders", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  on_root([&] { fs::create_directories(path); });
  const auto has = [](std::int64_t i, std::int64_t j) { return i != 1 || j != 0; };
  const auto check = [&](at::Tensor values, const Described& array, const Encode& encode) {
    INFO(array.codecs);
    values.slice(0, 4, 7).slice(1, 0, 4).fill_(array.fill == "3" ? 3 : -1);
    write_bytes(path + "/zarr.json", array_json(array));
    write_chunks(path, values, {4, 4}, encode, has);
    check_reads(path, values);
  };
  const auto numbers = counting({7, 5}, at::kInt) * 7 % 31;
  const auto turned = filter("transpose", R"({"order": [1, 0]})") + ", ";
  check(numbers, {turned + filter("bytes", R"({"endian": "big"})")}, [](const auto& x) { return bytes_of(x.t(), 4); });
  check(numbers, {little + ", " + filter("numcodecs.shuffle", R"({"elementsize": 4})") + R"(, {"name": "crc32c"})"},
        [](const auto& x) { return shuffled(bytes_of(x), 4) + crc32c_of(shuffled(bytes_of(x), 4)); });
  check(numbers, {little + R"(, {"name": "numcodecs.crc32"}, {"name": "numcodecs.zlib"}, {"name": "gzip"})"},
        [](const auto& x) { return deflated(deflated(sum_of(bytes_of(x)) + bytes_of(x), false), true); });
  check(numbers, {filter("numcodecs.delta", R"({"dtype": "<i4", "astype": "<i2"})") + ", " + little},
        [](const auto& x) { return bytes_of(differences(x).to(at::kShort)); });
  check(numbers.to(at::kLong),
        {turned + filter("delta", R"({"dtype": "<u8"})") + ", " + little, "[4, 4]", "uint64", "3"},
        [](const auto& x) { return bytes_of(differences(x.t())); });
  check(numbers.to(at::kFloat) / 4,
        {filter("numcodecs.fixedscaleoffset", R"({"offset": -2, "scale": 4.0, "dtype": "<f4", "astype": "<u2"})") +
             ", " + little,
         "[4, 4]", "float32"},
        [](const auto& x) { return bytes_of((x * 4 + 8).round().to(at::kShort)); });
  check(numbers.to(at::kDouble) + 0.5,
        {filter("numcodecs.quantize", R"({"digits": 1, "dtype": "<f8", "astype": "<f4"})") + ", " + little, "[4, 4]",
         "float64"},
        [](const auto& x) { return bytes_of(x.to(at::kFloat)); });
  check(numbers.to(at::kFloat),
        {filter("numcodecs.bitround", R"({"keepbits": 10})") + ", " + little, "[4, 4]", "float32"},
        [](const auto& x) { return bytes_of(x); });
  check(numbers.to(at::kBFloat16), {little, "[4, 4]", "bfloat16", "\"0xbf80\""},
        [](const auto& x) { return bytes_of(x); });
}

TEST_CASE("filters of format 2, in Fortran order, too", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  on_root([&] { fs::create_directories(path); });
  const auto values = counting({7, 5}, at::kInt) * 5 % 17;
  for (const std::string order : {"C", "F"}) {
    write_bytes(path + "/.zarray",
                R"({"zarr_format": 2, "shape": [7, 5], "chunks": [7, 5], "dtype": ">i4", "fill_value": 0, "order": ")" +
                    order + R"(", "filters": [{"id": "delta", "dtype": ">i4", "astype": ">i8"}, {"id": "shuffle",
                    "elementsize": 8}], "compressor": {"id": "zlib", "level": 1}})");
    const auto lying = order == "C" ? values : values.t();
    write_bytes(path + "/0.0", deflated(shuffled(bytes_of(differences(lying).to(at::kLong), 8), 8), false));
    check_reads(path, values);
  }
}

TEST_CASE("a rectilinear grid of chunks", "[io][zarr]") {
  const TempDir dir;
  const auto path = dir.path("a.zarr");
  on_root([&] { fs::create_directories(path); });
  const auto values = counting({7, 5}, at::kInt);
  const auto describe = [&](const std::string& chunks) {
    auto text = array_json({little});
    text.replace(text.find(R"("regular")"), 9, R"("rectilinear")");
    return text.replace(text.find(R"("chunk_shape": [4, 4])"), 21, R"("kind": "inline", "chunk_shapes": )" + chunks);
  };
  write_bytes(path + "/zarr.json", describe("[[1, [2, 2], 4], 3]"));  // rows 1 + 2 + 2 + 4, two of them after the end
  const ht::Shape begins{0, 1, 3, 5}, extents{1, 2, 2, 4};
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 2; ++j) {
      auto chunk = at::full({extents[i], 3}, 99, at::kInt);
      const auto part = values.slice(0, begins[i], begins[i] + extents[i]).slice(1, 3 * j, 3 * j + 3);
      chunk.slice(0, 0, part.size(0)).slice(1, 0, part.size(1)).copy_(part);
      on_root([&] { fs::create_directories(fmt::format("{}/c/{}", path, i)); });
      write_bytes(fmt::format("{}/c/{}/{}", path, i, j), bytes_of(chunk));
    }
  check_reads(path, values);
  for (const auto& [chunks, said] : {std::pair{"[[3, 3], 3]", "6 indices along an axis of 7"},
                                     {"[[3, 0, 4], 3]", "chunks of 0"},
                                     {"[[[3, -1]], 3]", "chunks of -1"},
                                     {"[[7]]", "chunks of shape (7,)"},
                                     {"[[[1, 9223372036854775807]], 3]", "chunks of 9223372036854775807"}}) {
    write_bytes(path + "/zarr.json", describe(chunks));
    CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load(path, {.split = 0}); }), Contains(said));
  }
}

TEST_CASE("stores in zip files", "[io][zarr]") {
  const TempDir dir;
  const auto values = counting({7, 5}, at::kInt);
  ht::io::save(distribute(values, ht::Layout({7, 5}, 0, ht::world().size())), dir.path("a.zarr"),
               {.dataset = "g/t", .chunks = {3, 2}});
  on_root([&] {
    std::string archive;
    std::vector<io::ZipMember> members;
    for (const auto& entry : fs::recursive_directory_iterator(dir.path("a.zarr"))) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(file), {});
      const auto size = static_cast<std::int64_t>(bytes.size());
      members.push_back({fs::relative(entry.path(), dir.path("a.zarr")).string(), std::ssize(archive), size, size});
      archive += io::zip_header(members.back()) + bytes;
    }
    archive += io::zip_directory(members, std::ssize(archive));
    std::ofstream(dir.path("a.zip"), std::ios::binary) << archive;
  });
  check_reads(dir.path("a.zip"), values);
  check_reads(dir.path("a.zip/g/t"), values);
  CHECK(same(ht::io::load_zarr(dir.path("a.zip"), "/g/t"), values));
  CHECK(same(ht::io::load_zarr(dir.path("a.zip/g"), "t/"), values));
  const auto found = ht::io::contents(dir.path("a.zip"));
  CHECK((found.size() == 1 && found[0].name == "g/t" && found[0].shape == ht::Shape{7, 5}));
  CHECK(found[0].dimension_names == std::vector<std::string>{"t_dim_0", "t_dim_1"});
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load(dir.path("a.zip/x")); }), Contains("a.zip/x"));
  const auto x = ht::zeros({2, 5}, {.dtype = ht::int32, .split = 0});
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::append_rows(x, dir.path("a.zip/g/t")); }), Contains("zip file"));
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save(x, dir.path("a.zip/u")); }), Contains("read only"));
}
