#include "written.hpp"

#include <fmt/format.h>
#include <filesystem>
#include <zlib.h>

namespace {

std::string number(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> 8 * i & 255));
  return text;
}

/// Calls `use` with each part of a matrix. Its extents are multiples of `extents`.
void each_part(const at::Tensor& values, const ht::Shape& extents,
               const std::function<void(std::int64_t, std::int64_t, const at::Tensor&)>& use) {
  for (std::int64_t i = 0; i < values.size(0) / extents[0]; ++i)
    for (std::int64_t j = 0; j < values.size(1) / extents[1]; ++j)
      use(i, j, values.narrow(0, i * extents[0], extents[0]).narrow(1, j * extents[1], extents[1]));
}

}  // namespace

std::string crc32c_of(const std::string& bytes) {
  std::uint32_t sum = 0xffffffff;
  for (const unsigned char byte : bytes) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) sum = sum & 1 ? sum >> 1 ^ 0x82f63b78 : sum >> 1;
  }
  return number(~sum, 4);
}

std::string deflated(const std::string& bytes, bool gzip) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, gzip ? 31 : 15, 8, Z_DEFAULT_STRATEGY);
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

std::string array_json(const Described& array) {
  return fmt::format(
      R"({{"zarr_format": 3, "node_type": "array", "shape": [7, 5], "data_type": "{}", "fill_value": {},
          "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {}}}}}, "attributes": {{}},
          "chunk_key_encoding": {{"name": "default"}}, "codecs": [{}]}})",
      array.type, array.fill, array.chunks, array.codecs);
}

void write_chunks(const std::string& path, const at::Tensor& values, const ht::Shape& extents, const Encode& encode,
                  const std::function<bool(std::int64_t, std::int64_t)>& has) {
  const auto up = [](std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; };
  auto padded = at::full({up(values.size(0), extents[0]), up(values.size(1), extents[1])}, 99, values.options());
  padded.narrow(0, 0, values.size(0)).narrow(1, 0, values.size(1)).copy_(values);
  each_part(padded, extents, [&](std::int64_t i, std::int64_t j, const at::Tensor& chunk) {
    if (has && !has(i, j)) return;
    on_root([&] { std::filesystem::create_directories(fmt::format("{}/c/{}", path, i)); });
    write_bytes(fmt::format("{}/c/{}/{}", path, i, j), encode(chunk.contiguous()));
  });
}

std::string shard_of(const at::Tensor& chunk, const ht::Shape& part, const Encode& encode, bool table_first,
                     bool checksum) {
  const auto parts = static_cast<std::size_t>(chunk.numel() / (part[0] * part[1]));
  const auto before = table_first ? parts * 16 + (checksum ? 4 : 0) : 0;
  std::string table, elements;
  each_part(chunk, part, [&](std::int64_t, std::int64_t, const at::Tensor& values) {
    const bool there = !at::all(values.eq(-1)).item<bool>();
    const auto bytes = there ? encode(values.contiguous()) : "";
    table += there ? number(before + elements.size(), 8) + number(bytes.size(), 8) : std::string(16, '\xff');
    elements += bytes;
  });
  if (checksum) table += crc32c_of(table);
  return table_first ? table + elements : elements + table;
}

std::string shard_json(const std::string& part, const std::string& codecs, bool table_first, bool checksum) {
  return fmt::format(
      R"({{"name": "sharding_indexed", "configuration": {{"chunk_shape": {}, "codecs": [{}], "index_codecs": [{}{}],
          "index_location": "{}"}}}})",
      part, codecs, little, checksum ? R"(, {"name": "crc32c"})" : "", table_first ? "start" : "end");
}

void check_reads(const std::string& path, const at::Tensor& global) {
  for (const auto& split : every_split({7, 5})) {
    CHECK(same(ht::io::load(path, {.split = split}), global));
    CHECK(same(
        ht::io::load(path, {.split = split, .slices = {ht::slice(1, 7, 2), ht::slice(1, -1)}, .dtype = ht::float64}),
        global.slice(0, 1, 7, 2).slice(1, 1, 4).to(at::kDouble)));
  }
}
