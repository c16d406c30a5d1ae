#include "files.hpp"

#include <filesystem>

namespace {

/// Writes a virtual dataset of the rows of two files.
void write_virtual(const TempDir& dir, const at::Tensor& global, std::int64_t cut) {
  const auto columns = static_cast<hsize_t>(global.size(1));
  write_plain(dir.path("s0.h5"), "x", global.slice(0, 0, cut));
  write_plain(dir.path("s1.h5"), "x", global.slice(0, cut, global.size(0)));
  on_root([&] {
    const hsize_t all[] = {static_cast<hsize_t>(global.size(0)), columns};
    const hid_t space = H5Screate_simple(2, all, nullptr), create = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t first = 0;
    for (const auto* name : {"s0.h5", "s1.h5"}) {
      const hsize_t rows = first == 0 ? static_cast<hsize_t>(cut) : all[0] - first;
      const hsize_t start[] = {first, 0}, count[] = {rows, columns};
      const hid_t source = H5Screate_simple(2, count, nullptr);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
      H5Pset_virtual(create, space, name, "x", source);  // next to the file
      H5Sclose(source);
      first += rows;
    }
    H5Sselect_all(space);
    const hid_t file = H5Fcreate(dir.path("virtual.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, create, H5P_DEFAULT);
    for (const hid_t id : {set, create, space, file}) H5Idec_ref(id);
  });
}

}  // namespace

TEST_CASE("virtual datasets load with every split", "[io][storage][large]") {
  const TempDir dir;
  const auto global = counting({11, 6});
  write_virtual(dir, global, 4);
  for (const std::optional<int> split : {std::optional<int>(), std::optional(0), std::optional(1)}) {
    const auto x = ht::io::load_hdf5(dir.path("virtual.h5"), "x", {.split = split, .collective = true});
    CHECK(same(x, global));
    CHECK_FALSE(ht::io::io_report().collective);
    if (split && ht::world().size() > 1) CHECK_THAT(ht::io::io_report().reason, Catch::Contains("virtual"));
  }
}

TEST_CASE("a virtual dataset with a missing file is an error", "[io][storage]") {
  const TempDir dir;
  write_virtual(dir, counting({11, 6}), 4);
  on_root([&] { std::filesystem::remove(dir.path("s1.h5")); });
  const auto load = [&] { return ht::io::load_hdf5(dir.path("virtual.h5"), "x", {.split = 0}); };
  CHECK_THAT(same_message<ht::IoError>(load), Catch::Contains("virtual.h5") && Catch::Contains("s1.h5"));
}

TEST_CASE("a virtual dataset of a file that cannot be read is an error", "[io][storage]") {
  const TempDir dir;
  write_virtual(dir, counting({11, 6}), 4);
  const auto error = [&] {
    return same_message<ht::IoError>([&] { return ht::io::load_hdf5(dir.path("virtual.h5"), "x", {.split = 0}); });
  };
  write_plain(dir.path("s1.h5"), "y", counting({7, 6}));
  CHECK_THAT(error(), Catch::Contains("s1.h5") && Catch::Contains("no dataset \"x\""));
  on_root([&] { std::filesystem::resize_file(dir.path("s1.h5"), 100); });
  CHECK_THAT(error(), Catch::Contains("s1.h5") && Catch::Contains("cannot be opened"));
}

TEST_CASE("chunks of any shape load with every split", "[io][storage]") {
  const TempDir dir;
  const ht::Shape shape{90, 40};
  const auto global = counting(shape, at::kInt);
  const std::vector<hsize_t> chunk = GENERATE(std::vector<hsize_t>{7, 40}, std::vector<hsize_t>{90, 3},
                                              std::vector<hsize_t>{16, 16}, std::vector<hsize_t>{1, 40});
  const int gzip = GENERATE(-1, 4);
  write_plain(dir.path("a.h5"), "x", global, {.chunk = chunk, .gzip = gzip});
  for (const std::optional<int> split : {std::optional<int>(), std::optional(0), std::optional(1)}) {
    CHECK(same(ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = split}), global));
    const auto part =
        ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = split, .slices = {ht::slice(5, 85), ht::slice(3, 39)}});
    CHECK(same(part, global.slice(0, 5, 85).slice(1, 3, 39)));
  }
}

TEST_CASE("compressed chunks that many ranks need are read by one", "[io][storage][large]") {
  const TempDir dir;
  const auto global = counting({64, 30, 2});
  write_plain(dir.path("a.h5"), "x", global, {.chunk = {4, 30, 2}, .gzip = 2});
  for (const auto dtype : {ht::float32, ht::int64}) {
    const auto x = ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = 1, .dtype = dtype});
    CHECK(same(x, global.to(ht::to_torch(dtype))));
    if (ht::world().size() > 1)
      CHECK(ht::io::io_report().reason == "exchange: each chunk read once and its parts sent to their ranks");
  }
}

TEST_CASE("byte orders and foreign types become the library's", "[io][storage]") {
  const TempDir dir;
  const auto global = counting({6, 4}, at::kShort);
  const hid_t bits = H5Tcopy(H5T_STD_B8LE);
  const struct {
    hid_t stored;
    ht::Dtype dtype;
  } cases[] = {{H5T_STD_I16BE, ht::int16},       {H5T_STD_I32BE, ht::int32},    {H5T_STD_I64BE, ht::int64},
               {H5T_IEEE_F32BE, ht::float32},    {H5T_IEEE_F64BE, ht::float64}, {H5T_STD_U8LE, ht::uint8},
               {H5T_STD_U16LE, ht::int32},       {H5T_STD_U32BE, ht::int64},    {H5T_STD_U64LE, ht::int64},
               {H5T_NATIVE_LDOUBLE, ht::float64}};
  for (const auto& [stored, dtype] : cases) {
    write_plain(dir.path("a.h5"), "x", global, {.type = stored});
    for (const bool collective : {false, true}) {
      const auto x = ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = 0, .collective = collective});
      CHECK(same(x, global.to(ht::to_torch(dtype))));
    }
  }
  H5Tclose(bits);
}

TEST_CASE("unsigned numbers that int64 cannot hold are an error", "[io][storage]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  on_root([&] {
    const hsize_t extent = 4;
    const std::uint64_t values[] = {0, 1, 2, std::uint64_t{1} << 63};
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    const hid_t set = H5Dcreate2(file, "x", H5T_STD_U64BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    for (const hid_t id : {set, space, file}) H5Idec_ref(id);
  });
  CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::load_hdf5(path, "x", {.split = 0}); }),
             Catch::Contains("2^63"));
  const auto head = ht::io::load_hdf5(path, "x", {.split = 0, .slices = {ht::slice(0, 3)}});
  CHECK(same(head, at::arange(3)));
}

TEST_CASE("enumerations are the numbers of their names", "[io][storage]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  on_root([&] {
    const hsize_t extent = 3;
    const std::int16_t values[] = {7, 300, 7};
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT16);
    H5Tenum_insert(type, "seven", &values[0]);
    H5Tenum_insert(type, "many", &values[1]);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    const hid_t set = H5Dcreate2(file, "x", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    for (const hid_t id : {set, space, type, file}) H5Idec_ref(id);
  });
  CHECK(same(ht::io::load_hdf5(path, "x", {.split = 0}), at::tensor({7, 300, 7}, at::kShort)));
}
