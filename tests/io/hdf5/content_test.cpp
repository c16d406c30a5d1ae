#include "../bytes.hpp"

#include <filesystem>

namespace {

using Catch::Contains;
namespace fs = std::filesystem;

std::string load_error(const std::string& path) {
  return same_message<ht::IoError>([&] { return ht::io::load(path, {.split = 0}); });
}

}  // namespace

TEST_CASE("the content of files determines their format, for any name", "[io][content]") {
  const TempDir dir;
  const auto global = counting({7, 3});
  const auto x = distribute(global, ht::Layout({7, 3}, 0, ht::world().size()));
  write_plain(dir.path("a.nxs"), "x", global);
  write_plain(dir.path("a.he5"), "x", global);
  write_plain(dir.path("named"), "x", global);
  write_plain(dir.path("b.npy"), "x", global);
  write_plain(dir.path("dense.h5ad"), "x", global);
  write_plain(dir.path("plain.h5"), "x", global);
  write_bytes(dir.path("v7.mat"), "MATLAB 7.3 MAT-file" + std::string(493, ' ') + read_bytes(dir.path("plain.h5")));
  ht::io::save(x, dir.path("c.npy"));
  on_root([&] { fs::copy_file(dir.path("c.npy"), dir.path("c.h5")); });
  ht::io::save(x, dir.path("d.safetensors"));
  on_root([&] { fs::copy_file(dir.path("d.safetensors"), dir.path("d.weights")); });
  ht::io::save(x, dir.path("e.zarr"));
  on_root([&] { fs::copy(dir.path("e.zarr"), dir.path("e_zarr"), fs::copy_options::recursive); });
  for (const auto* name : {"a.nxs", "a.he5", "named", "b.npy", "dense.h5ad", "v7.mat", "c.h5", "d.weights", "e_zarr"}) {
    CAPTURE(name);
    for (const auto& split : every_split({7, 3})) CHECK(same(ht::io::load(dir.path(name), {.split = split}), global));
    const auto all = ht::io::contents(dir.path(name));
    REQUIRE(all.size() == 1);
    CHECK(all[0].shape == ht::Shape{7, 3});
    const ht::io::StoredArray stored(dir.path(name), {.dataset = all[0].name});
    ht::io::convert(stored, dir.path("out.npy"));
    CHECK(same(ht::io::load(dir.path("out.npy"), {.split = 0}), global));
  }
  CHECK(same(ht::io::load(dir.path("a.*"), {.split = 0}), at::cat({global, global})));
}

TEST_CASE("errors for formats that are not read say what to do", "[io][content]") {
  const TempDir dir;
  CHECK_THAT(load_error("s3://bucket/a.zarr"), Contains("got \"s3://bucket/a.zarr\", an address; expected a path"));
  CHECK_THAT(load_error("https://host/a.h5"), Contains("copy it here"));
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load_hdf5("http://host/a.h5", "x"); }),
             Contains("copy it here"));
  write_bytes(dir.path("a.mat"), "MATLAB 5.0 MAT-file" + std::string(200, '\0'));
  CHECK_THAT(load_error(dir.path("a.mat")), Contains("MATLAB") && Contains("-v7.3"));
  write_bytes(dir.path("a.json"), R"({"version": 1, "refs": {".zgroup": "{}"}})");
  CHECK_THAT(load_error(dir.path("a.json")), Contains("references of kerchunk") && Contains("to_zarr"));
  write_bytes(dir.path("a.parquet"), "PAR1" + std::string(100, 'x'));
  CHECK_THAT(load_error(dir.path("a.parquet")), Contains("Parquet") && Contains("pandas"));
  on_root([&] {
    for (const auto* name : {"snapshots", "manifests", "refs"}) fs::create_directories(dir.path("ice") + "/" + name);
  });
  CHECK_THAT(load_error(dir.path("ice")), Contains("Icechunk") && Contains("to_zarr"));
  write_bytes(dir.path("a.mtx"), "%%MatrixMarket matrix coordinate real general\n1 1 0\n");
  CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::load(dir.path("a.mtx")); }), Contains("sparse::load"));
}

TEST_CASE("a format that is too new names the HDF5 that reads it", "[io][content]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  write_plain(path, "x", counting({4}));
  auto bytes = read_bytes(path);
  // The message of a contiguous layout has type 8 and 24 bytes, is not shared, and has version 3 and class 1.
  const std::string layout("\x08\0\x18\0\0\0\0\0\x03\x01", 10);
  auto at = bytes.find(layout);
  if (at == std::string::npos) at = bytes.find(std::string("\x08\0\x18\0\1\0\0\0\x03\x01", 10));
  REQUIRE(at != std::string::npos);
  bytes[at + 8] = 5;
  write_bytes(path, bytes);
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load_hdf5(path, "x", {.split = 0}); }),
             Contains("bad version number for layout message") && Contains("HDF5 2.0") &&
                 Contains("libver=(\"earliest\", \"v114\")"));
}
