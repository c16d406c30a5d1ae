#include "bytes.hpp"

#include <heatpp/core/detail/host/threads.hpp>
#include <heatpp_io/detail/codecs/inflate_whole.hpp>
#include <heatpp_io/hdf5/detail/chunk_io.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>

#include <ATen/Parallel.h>
#include <zlib.h>

using Catch::Contains;

namespace {

namespace io = ht::io::detail;

std::vector<std::byte> as_bytes(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

std::vector<std::byte> zlib_stream(const std::string& text) {
  std::vector<std::byte> stream(compressBound(text.size()));
  uLongf length = stream.size();
  compress(reinterpret_cast<Bytef*>(stream.data()), &length, reinterpret_cast<const Bytef*>(text.data()), text.size());
  stream.resize(length);
  return stream;
}

/// Returns the whole dataset, or nothing if HDF5 has to read it.
std::optional<at::Tensor> by_chunks(const std::string& path) {
  const ht::io::detail::Hdf5Turn turn;
  const auto dataset = io::open_dataset(path, {"x"}, "test");
  const auto out = at::full(dataset.info.shape, 77, ht::to_torch(dataset.info.element.dtype));
  if (!io::read_chunks(dataset, io::select(dataset.info.shape, {}, "test"), out)) return std::nullopt;
  return out;
}

/// Checks that a file loads with every split, for any reader.
void check_loads(const std::string& path, const at::Tensor& global) {
  for (const auto& split : every_split({global.sizes().begin(), global.sizes().end()}))
    CHECK(same(ht::io::load_hdf5(path, "x", {.split = split}), global));
}

}  // namespace

TEST_CASE("a stream is inflated if it gives as many bytes as are wanted", "[io][chunks]") {
  const std::string text(1000, 'a');
  const auto stream = zlib_stream(text);
  std::vector<std::byte> out(text.size());
  CHECK(io::inflate_whole(stream, out));
  CHECK((out == as_bytes(text)));

  const std::span<const std::byte> bytes(stream);
  CHECK_FALSE(io::inflate_whole(bytes.first(bytes.size() - 1), out));
  CHECK_FALSE(io::inflate_whole({}, out));
  auto longer = stream, damaged = stream;
  longer.push_back({});
  damaged.back() ^= std::byte{1};
  CHECK_FALSE(io::inflate_whole(longer, out));
  CHECK_FALSE(io::inflate_whole(damaged, out));
  out.resize(text.size() - 1);
  CHECK_FALSE(io::inflate_whole(stream, out));
  out.resize(text.size() + 1);
  CHECK_FALSE(io::inflate_whole(stream, out));
}

TEST_CASE("compressed chunks are inflated without HDF5", "[io][chunks]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  for (const auto type : {at::kByte, at::kShort, at::kInt, at::kLong, at::kFloat, at::kDouble})
    for (const bool shuffle : {false, true})
      for (const auto& chunk : {std::vector<hsize_t>{5, 4}, {7, 11}, {4, 11}, {37, 6}}) {
        const auto global = counting({37, 11}, type);
        write_plain(path, "x", global, {.chunk = chunk, .gzip = 3, .shuffle = shuffle});
        const auto read = [&] {
          const ht::detail::ThreadsInScope threads(3);
          return by_chunks(path);
        }();
        CHECK(read);
        if (read) CHECK(equals(*read, global));
        check_loads(path, global);
        ht::world().barrier();
      }
}

TEST_CASE("chunks without filters are read past HDF5's cache", "[io][chunks]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  for (const auto type : {at::kByte, at::kDouble})
    for (const auto& chunk : {std::vector<hsize_t>{5, 4}, {7, 11}, {4, 11}, {37, 6}}) {
      const auto global = counting({37, 11}, type);
      write_plain(path, "x", global, {.chunk = chunk});
      const auto read = by_chunks(path);
      CHECK(read);
      if (read) CHECK(equals(*read, global));
      check_loads(path, global);
      ht::world().barrier();
    }
}

TEST_CASE("HDF5 reads chunks that are stored in other ways", "[io][chunks]") {
  const TempDir dir;
  const auto global = counting({30, 8});
  const auto check = [&](const char* name, const Storage& storage) {
    write_plain(dir.path(name), "x", global, storage);
    CHECK_FALSE(by_chunks(dir.path(name)));
    check_loads(dir.path(name), global);
  };
  check("plain.h5", {});
  check("shuffled.h5", {.chunk = {5, 4}, .shuffle = true});
  check("checksum.h5", {.chunk = {5, 4}, .gzip = 3, .checksum = true});
  check("big_endian.h5", {.type = H5T_IEEE_F32BE, .chunk = {5, 4}, .gzip = 3});
}

TEST_CASE("HDF5 reads chunks that are missing or not compressed", "[io][chunks]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  const auto global = counting({20, 4});
  for (const bool skipped : {false, true}) {
    on_root([&] {
      const hsize_t extents[] = {20, 4}, chunk[] = {10, 4}, second[] = {10, 0};
      const float fill = 9;
      const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      const hid_t space = H5Screate_simple(2, extents, nullptr), create = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_chunk(create, 2, chunk);
      H5Pset_deflate(create, 1);
      H5Pset_fill_value(create, H5T_NATIVE_FLOAT, &fill);
      const hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, create, H5P_DEFAULT);
      const auto data = global.slice(0, 10).contiguous();
      const std::uint32_t without_filters = 1;
      if (skipped) H5Dwrite_chunk(set, H5P_DEFAULT, without_filters, second, 160, data.data_ptr());
      for (const hid_t id : {set, create, space, file}) H5Idec_ref(id);
    });
    auto expected = at::full({20, 4}, 9.0F);
    if (skipped) expected.slice(0, 10).copy_(global.slice(0, 10));
    CHECK_FALSE(by_chunks(path));
    check_loads(path, expected);
    ht::world().barrier();
  }
}

TEST_CASE("damaged chunks, and such of another size, are left to HDF5", "[io][chunks]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  const auto store = [&](const std::vector<std::byte>& stream) {
    on_root([&] {
      const hsize_t extents[] = {10, 4}, first[] = {0, 0};
      const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      const hid_t space = H5Screate_simple(2, extents, nullptr), create = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_chunk(create, 2, extents);
      H5Pset_deflate(create, 1);
      const hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, create, H5P_DEFAULT);
      H5Dwrite_chunk(set, H5P_DEFAULT, 0, first, stream.size(), stream.data());
      for (const hid_t id : {set, create, space, file}) H5Idec_ref(id);
    });
  };
  store(zlib_stream(std::string(160, '\0')));
  const auto zeros = by_chunks(path);
  CHECK(zeros);
  if (zeros) CHECK(each_is(*zeros, 0));

  auto damaged = zlib_stream(std::string(160, '\0'));
  damaged[2] ^= std::byte{0xff};
  for (const auto& stream : {damaged, zlib_stream(std::string(80, '\0')), zlib_stream(std::string(320, '\0')),
                             std::vector<std::byte>(5000, std::byte{0x55})}) {
    ht::world().barrier();
    store(stream);
    CHECK_FALSE(by_chunks(path));
  }
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load_hdf5(path, "x", {.split = 0}); }), Contains("a.h5"));
}

TEST_CASE("HDF5's cache reads a box with few of its chunks' elements", "[io][chunks]") {
  const TempDir dir;
  write_plain(dir.path("a.h5"), "x", counting({40, 6}), {.chunk = {10, 6}, .gzip = 1});
  const ht::io::detail::Hdf5Turn turn;
  const auto dataset = io::open_dataset(dir.path("a.h5"), {"x"}, "test");
  auto box = io::select(dataset.info.shape, {}, "test");
  box[0].start = 8;
  for (const std::int64_t count : {4, 12}) {
    box[0].count = count;
    const auto out = at::empty({count, 6});
    CHECK(io::read_chunks(dataset, box, out) == (count == 12));
    if (count == 12) CHECK(equals(out, counting({40, 6}).slice(0, 8, 20)));
  }
}
