#include "bytes.hpp"

#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/hdf5/detail/chunk_io.hpp>

#include <filesystem>

using Catch::Contains;
using ht::io::Compression;

namespace {

namespace io = ht::io::detail;

constexpr std::array codecs{"gzip:1", "zstd", "lz4", "blosc"};

struct Named {
  std::string name;
  const io::BlockCodec& codec;
};
std::vector<Named> all_blocks() {
  std::vector<Named> all{{"lz4 of HDF5", io::lz4_blocks_of_hdf5}};
  for (const auto* name : codecs) all.push_back({name, *io::block_codec(Compression(name).codec)});
  return all;
}

/// Whether chunks were read without HDF5.
bool read_by_chunks(const std::string& path, const at::Tensor& global) {
  const io::Hdf5Turn turn;
  const auto dataset = io::open_dataset(path, {"x"}, "test");
  const auto out = at::empty_like(global);
  return io::read_chunks(dataset, io::select(dataset.info.shape, {}, "test"), out) && at::equal(out, global);
}

}  // namespace

TEST_CASE("a block is decompressed, and a damaged one is refused", "[io][codecs]") {
  const auto values = counting({37, 11}, at::kDouble);
  const io::Block block(static_cast<const std::byte*>(values.const_data_ptr()), 37 * 11 * 8);
  for (const auto& [name, codec] : all_blocks()) {
    CAPTURE(name);
    const auto packed = codec.compress(block, 5, 8);
    REQUIRE(packed);
    CHECK(packed->size() < block.size());
    std::vector<std::byte> out(block.size());
    CHECK(codec.decompress(*packed, out));
    CHECK(std::ranges::equal(out, block));
    if (codec.size) CHECK(codec.size(*packed) == block.size());

    for (const auto bytes : {std::size_t{0}, std::size_t{3}, std::size_t{11}, packed->size() - 1})
      CHECK_FALSE(codec.decompress(io::Block(*packed).first(bytes), out));
    auto longer = *packed, begins_badly = *packed;
    longer.resize(longer.size() + 100);
    if (name != "blosc") CHECK_FALSE(codec.decompress(longer, out));  // it states its size
    for (std::size_t i = 0; i < 12; ++i) begins_badly[i] ^= std::byte{0xff};
    CHECK_FALSE(codec.decompress(begins_badly, out));
    out.resize(block.size() - 1);
    CHECK_FALSE(codec.decompress(*packed, out));
    out.resize(block.size() + 1);
    CHECK_FALSE(codec.decompress(*packed, out));
  }
}

TEST_CASE("blocks that do not get smaller, and several in one chunk of HDF5's lz4", "[io][codecs]") {
  at::manual_seed(1);
  const auto noise = at::randint(0, 256, {1000}, at::kByte);
  const io::Block block(static_cast<const std::byte*>(noise.const_data_ptr()), 1000);
  std::vector<std::byte> out(1000);
  for (const auto& [name, codec] : all_blocks()) {
    CAPTURE(name);
    const auto packed = codec.compress(block, 1, 1);
    REQUIRE(packed);
    CHECK((codec.decompress(*packed, out) && std::ranges::equal(out, block)));
  }
  // These have 600 bytes each and are stored uncompressed.
  std::vector<std::byte> blocks;
  const auto number = [&](std::uint64_t value, int bytes) {
    while (bytes-- > 0) blocks.push_back(static_cast<std::byte>(value >> 8 * bytes));
  };
  number(1000, 8);
  number(600, 4);
  for (const auto& [first, bytes] : {std::pair{0, 600}, {600, 400}}) {
    number(static_cast<std::uint64_t>(bytes), 4);
    blocks.insert(blocks.end(), block.begin() + first, block.begin() + first + bytes);
  }
  CHECK((io::lz4_blocks_of_hdf5.decompress(blocks, out) && std::ranges::equal(out, block)));
  blocks[11] = std::byte{0};  // blocks of 512 bytes
  CHECK_FALSE(io::lz4_blocks_of_hdf5.decompress(blocks, out));
}

TEST_CASE("chunks of every codec are read without HDF5", "[io][codecs]") {
  const TempDir dir;
  for (const auto* codec : codecs)
    for (const auto type : {at::kByte, at::kShort, at::kFloat, at::kDouble}) {
      const auto global = counting({37, 11}, type);
      const auto x = distribute(global, ht::Layout({37, 11}, 0, ht::world().size()));
      ht::io::save_hdf5(x, dir.path("a.h5"), "x", {.compression = codec, .chunks = {7, 4}});
      CHECK(read_by_chunks(dir.path("a.h5"), global));
      for (const auto& split : every_split({37, 11}))
        CHECK(same(ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = split}), global));
      // HDF5 reads a few elements of many chunks.
      CHECK(same(ht::io::load_hdf5(dir.path("a.h5"), "x", {.slices = {ht::Slice(1, 37, 9), ht::Slice(2, 3)}}),
                 global.slice(0, 1, 37, 9).slice(1, 2, 3)));
      ht::world().barrier();
    }
}

TEST_CASE("names and levels of compression", "[io][codecs]") {
  CHECK(Compression("zstd") == Compression("zstd:3"));
  CHECK(Compression("gzip:7") == Compression(7));
  CHECK(to_string(Compression("blosc:9")) == "blosc:9");
  CHECK(to_string(Compression(2)) == "2");
  for (const auto* text : {"", "zst", "zstd:", "zstd:x", "zstd:3 ", "zstd:3:3", "zstd:99999999999", ":3", "3"})
    CHECK_THAT(message_of<ht::ValueError>([&] { static_cast<void>(Compression(text)); }),
               Contains(std::string("[Compression] got \"") + text + "\""));

  const TempDir dir;
  const auto x = ht::zeros({4, 3}, {.split = 0});
  const auto error = [&](const char* name, const char* compression) {
    return same_message<ht::ValueError>([&] { ht::io::save(x, dir.path(name), {.compression = compression}); });
  };
  CHECK_THAT(error("a.h5", "zstd:23"), Contains("got compression zstd:23; expected a zstd level from 1 to 22"));
  CHECK_THAT(error("a.zarr", "blosc:10"), Contains("got compression blosc:10"));
  CHECK_THAT(error("a.h5", "lz4:2"), Contains("got compression lz4:2"));
  CHECK_THAT(error("a.zarr", "gzip:10"), Contains("got compression 10"));
  CHECK_THAT(error("a.nc", "zstd"), Contains("got compression zstd:3; expected a gzip level"));
  CHECK(dir.names().empty());
}

TEST_CASE("damaged chunks, and filters that are not there", "[io][codecs]") {
  const TempDir dir;
  const auto x = ht::ones({64, 8}, {.split = 0});
  for (const auto* codec : {"zstd", "lz4", "blosc"}) {
    CAPTURE(codec);
    ht::io::save_zarr(x, dir.path("a.zarr"), {.chunks = {64, 8}, .compression = codec});
    const auto bytes = read_bytes(dir.path("a.zarr/data/0.0"));
    write_bytes(dir.path("a.zarr/data/0.0"), bytes.substr(0, bytes.size() / 2));
    CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load(dir.path("a.zarr")); }),
               Contains("a.zarr/data/0.0") && Contains(codec));
  }
  // The dataset has filters that nothing here has, marked as applied.
  const auto path = dir.path("a.h5");
  const auto write = [&](std::initializer_list<H5Z_filter_t> missing) {
    on_root([&] {
      const std::vector<hsize_t> extent{4};
      const std::vector<float> values(4, 1.0F);
      const io::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
      const io::Handle space(H5Screate_simple(1, extent.data(), nullptr)), how(H5Pcreate(H5P_DATASET_CREATE));
      H5Pset_chunk(how.get(), 1, extent.data());
      for (const auto filter : missing) H5Pset_filter(how.get(), filter, H5Z_FLAG_OPTIONAL, 0, nullptr);
      const io::Handle set(
          H5Dcreate2(file.get(), "x", H5T_NATIVE_FLOAT, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT));
      const hsize_t first = 0;
      REQUIRE(H5Dwrite_chunk(set.get(), H5P_DEFAULT, 0, &first, sizeof(float) * values.size(), values.data()) >= 0);
    });
  };
  const auto error = [&] { return same_message<ht::IoError>([&] { return ht::io::load_hdf5(path, "x"); }); };
  write({32013});
  CHECK_THAT(
      error(),
      Contains("filter 32013 (ZFP); expected the plugin of hdf5-filter-plugin-zfp-serial (Debian) or hdf5plugin"));
  for (const auto& [filter, name] : {std::pair{32026, "Blosc2"}, std::pair{32024, "SZ3"}, std::pair{32028, "SPERR"}}) {
    write({filter});
    CHECK_THAT(error(), Contains(name) && Contains("hdf5plugin (PyPI)") && Contains("HDF5_PLUGIN_PATH"));
  }
  write({32028, 400});
  CHECK_THAT(error(), Contains("filter 32028 (SPERR)") && Contains(", and through filter 400"));
  if (!ht::io::supports_netcdf()) return;
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load_netcdf(path, "x"); }),
             Contains("[load_netcdf] got \"" + path + "\"") && Contains("filter 32028 (SPERR)") &&
                 Contains(", and through filter 400"));
}

/// Reads each file that Python has written, and writes it with every codec for Python to read.
TEST_CASE("compressed files for Python", "[.python]") {
  const std::filesystem::path folder(std::getenv("HEATPP_CODEC_FILES"));
  const auto expected = counting({37, 11}, at::kDouble);
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "in")) {
    CAPTURE(entry.path().string());
    for (const auto& split : every_split({37, 11})) CHECK(same(ht::io::load(entry.path(), {.split = split}), expected));
    ++count;
  }
  CHECK(count > 0);
  const auto x = distribute(expected, ht::Layout({37, 11}, 0, ht::world().size()));
  for (const std::string codec : codecs)
    for (const std::string ending : {".h5", ".zarr"})
      ht::io::save(x, folder / "out" / (codec.substr(0, codec.find(':')) + ending),
                   {.compression = codec, .chunks = {8, 5}});
  // Bytes that do not get smaller, which plugins of these filters may refuse.
  const auto noise = at::randint(256, {500, 64}, at::detail::createCPUGenerator(5), at::kByte);
  const auto y = distribute(noise, ht::Layout({500, 64}, 0, ht::world().size()));
  const TempDir dir;
  for (const std::string codec : codecs) {
    ht::io::save(y, dir.path("noise.h5"), {.compression = codec, .chunks = {100, 64}});
    CHECK(same(ht::io::load(dir.path("noise.h5")), noise));
  }
}
