#include "../io/bytes.hpp"
#include "sparse_data.hpp"
#include <heatpp/sparse/io/files.hpp>

#include <zlib.h>

#include <filesystem>

namespace {

using Catch::Contains;

const std::vector<std::optional<int>> row_splits{0, std::nullopt};

}  // namespace

TEST_CASE("groups without an encoding are by rows, but for 10x Genomics'", "[sparse][files]") {
  const TempDir dir;
  const auto add = [&](const std::string& file, const std::string& name, const at::Tensor& x) {
    ht::io::save_hdf5(on_all(x), dir.path(file), "m/" + name, {.append = name != "data"});
  };
  const auto by_rows = numbers({0, 1, 0, 2, 0, 3, 0, 0, 0}).view({3, 3});
  for (const std::string file : {"rows.h5", "cells.h5"}) {
    add(file, "data", numbers({1, 2, 3}));
    add(file, "indices", numbers({1, 0, 2}));
    add(file, "indptr", numbers({0, 1, 3, 3}));
    add(file, "shape", numbers({3, 3}));
  }
  add("cells.h5", "barcodes", numbers({1, 2, 3}));  // texts, which are ignored
  add("cells.h5", "features", numbers({1, 2, 3}));
  for (const auto& split : row_splits) {
    CHECK(same_matrix(sp::load(dir.path("rows.h5"), {.split = split}), by_rows));
    CHECK(same_matrix(sp::load(dir.path("cells.h5"), {.split = split}), by_rows.t().contiguous()));
  }
}

TEST_CASE("MATLAB's sparse matrices", "[sparse][files]") {
  const TempDir dir;
  const auto write = [&](const std::string& path, const std::string& kind, bool entries) {
    ht::io::save_hdf5(on_all(entries ? numbers({0, 1, 1, 3}) : numbers({0, 0, 0, 0})), path, "m/jc");
    if (entries) {
      ht::io::save_hdf5(on_all(numbers({1, 0, 1})), path, "m/ir", {.append = true});
      ht::io::save_hdf5(on_all(at::tensor({1., 2., 3.}, at::kDouble)), path, "m/data", {.append = true});
    }
    on_root([&] {
      const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), group = H5Gopen2(file, "m", H5P_DEFAULT);
      const hid_t one = H5Screate(H5S_SCALAR), text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, kind.size());
      const hid_t rows = H5Acreate2(group, "MATLAB_sparse", H5T_NATIVE_UINT64, one, H5P_DEFAULT, H5P_DEFAULT);
      const hid_t name = H5Acreate2(group, "MATLAB_class", text, one, H5P_DEFAULT, H5P_DEFAULT);
      const std::uint64_t count = 2;
      H5Awrite(rows, H5T_NATIVE_UINT64, &count);
      H5Awrite(name, text, kind.data());
      for (const hid_t id : {name, rows, text, one, group, file}) H5Idec_ref(id);
    });
  };
  const auto expected = at::tensor({0., 0., 2., 1., 0., 3.}, at::kDouble).view({2, 3});
  for (const auto& split : row_splits) {
    write(dir.path("a.mat"), "double", true);
    CHECK(same_matrix(sp::load(dir.path("a.mat"), {.split = split}), expected));
    write(dir.path("a.mat"), "logical", true);
    CHECK(same_matrix(sp::load(dir.path("a.mat"), {.group = "m", .split = split}), expected.ne(0)));
    write(dir.path("a.mat"), "double", false);
    CHECK(same_matrix(sp::load(dir.path("a.mat"), {.split = split}), at::zeros({2, 3}, at::kDouble)));
  }
}

TEST_CASE("AnnData's matrices in Zarr stores", "[sparse][files]") {
  const TempDir dir;
  const auto add = [&](const std::string& name, const at::Tensor& x) {
    ht::io::save_zarr(on_all(x), dir.path("a.zarr/X/" + name));
  };
  const auto say = [&](const std::string& kind, const std::string& shape) {
    write_bytes(dir.path("a.zarr/X/.zattrs"), R"({"encoding-type": ")" + kind + R"(", "shape": )" + shape + "}");
  };
  on_root([&] { std::filesystem::create_directories(dir.path("a.zarr/X")); });
  write_bytes(dir.path("a.zarr/.zgroup"), R"({"zarr_format": 2})");
  write_bytes(dir.path("a.zarr/X/.zgroup"), R"({"zarr_format": 2})");
  add("data", at::tensor({1., 2., 3.}, at::kDouble));
  add("indices", numbers({1, 0, 2}));
  add("indptr", numbers({0, 1, 3}));
  const auto by_rows = at::tensor({0., 1., 0., 2., 0., 3.}, at::kDouble).view({2, 3});
  for (const auto& split : row_splits) {
    say("csr_matrix", "[2, 3]");
    CHECK(same_matrix(sp::load(dir.path("a.zarr"), {.split = split}), by_rows));
    say("csc_matrix", "[3, 2]");
    CHECK(same_matrix(sp::load(dir.path("a.zarr"), {.group = "X", .split = split}), by_rows.t().contiguous()));
  }
  say("array", "[3, 2]");
  CHECK_THAT(same_message<ht::ValueError>([&] { (void)sp::load(dir.path("a.zarr")); }), Contains("0 groups"));
  say("csr_matrix", "[3]");
  CHECK_THAT(same_message<ht::IoError>([&] { (void)sp::load(dir.path("a.zarr")); }), Contains("attribute shape [3]"));
  say("csr_matrix", "[9, 3]");
  CHECK_THAT(same_message<ht::IoError>([&] { (void)sp::load(dir.path("a.zarr")); }), Contains("expected 10 pointers"));
}

TEST_CASE("Matrix Market files that gzip has compressed", "[sparse][files]") {
  const TempDir dir;
  const auto path = dir.path("a.mtx.gz");
  const auto write = [&](const std::vector<std::string>& members) {
    on_root([&] {
      for (const auto& text : members) {
        const gzFile file = gzopen(path.c_str(), &text == &members.front() ? "wb" : "ab");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        gzclose(file);
      }
    });
  };
  std::string entries;
  for (int i = 1; i <= 500; ++i)
    entries += std::to_string(i) + " " + std::to_string(1 + i % 7) + " " + std::to_string(i) + ".5\n";
  auto expected = at::zeros({500, 7}, at::kDouble);
  for (int i = 1; i <= 500; ++i) expected[i - 1][i % 7] = i + 0.5;
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n500 7 500\n";
  for (const auto& split : row_splits) {
    write({banner + entries});
    CHECK(same_matrix(sp::load(path, {.split = split}), expected));
    write({banner, entries.substr(0, 1000), entries.substr(1000)});
    CHECK(same_matrix(sp::load(path, {.split = split}), expected));
  }
  write({banner + "1 1 1\n2 2 x\n"});
  CHECK_THAT(same_message<ht::IoError>([&] { (void)sp::load(path); }), Contains("\"2 2 x\" in line 4"));
  write({banner + entries});
  const auto bytes = read_bytes(path);
  write_bytes(path, bytes.substr(0, bytes.size() / 2));
  CHECK_THAT(same_message<ht::IoError>([&] { (void)sp::load(path); }), Contains("which gzip cannot decompress"));
  auto damaged = bytes;
  for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 20; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  write_bytes(path, damaged);
  CHECK_FALSE(same_message<ht::IoError>([&] { (void)sp::load(path); }).empty());
}

TEST_CASE("arrays of one axis and of many in .npz", "[sparse][files]") {
  const TempDir dir;
  const auto path = dir.path("a.npz");
  const auto save = [&](const std::string& format, const std::vector<std::pair<std::string, at::Tensor>>& arrays) {
    std::vector<ht::io::NamedArray> named;
    for (const auto& [name, x] : arrays) named.emplace_back(name, on_all(x));
    ht::io::save_npz(named, path, {.texts = {{"format", format}}});
  };
  const auto data = at::tensor({1., 2., 3.}, at::kDouble);
  for (const auto& split : row_splits) {
    save("coo", {{"coords", numbers({4, 0, 2}).view({1, 3})}, {"data", data}, {"shape", numbers({5})}});
    CHECK(same_matrix(sp::load(path, {.split = split}), at::tensor({2., 0., 3., 0., 1.}, at::kDouble).view({1, 5})));
    save("csr",
         {{"indptr", numbers({0, 3})}, {"indices", numbers({0, 2, 4})}, {"data", data}, {"shape", numbers({5})}});
    CHECK(same_matrix(sp::load(path, {.split = split}), at::tensor({1., 0., 2., 0., 3.}, at::kDouble).view({1, 5})));
    auto cube = at::zeros({2, 3, 4}, at::kDouble);
    cube[1][0][2] = 1, cube[0][2][3] = 2, cube[1][2][0] = 3;
    save(
        "coo",
        {{"coords", numbers({1, 0, 1, 0, 2, 2, 2, 3, 0}).view({3, 3})}, {"data", data}, {"shape", numbers({2, 3, 4})}});
    CHECK(same_matrix(sp::load(path, {.split = split}), cube.view({2, 12})));
  }
  save("coo",
       {{"coords", numbers({1, 0, 1, 0, 2, 3, 2, 3, 0}).view({3, 3})}, {"data", data}, {"shape", numbers({2, 3, 4})}});
  CHECK_THAT(same_message<ht::IoError>([&] { (void)sp::load(path); }), Contains("out of range along axis 1"));
}
