#include "../bytes.hpp"

#include <heatpp/comm/log.hpp>

#include <cstddef>

namespace {

using Catch::Contains;

/// A dataset with elements of any type, as they are in memory.
struct Raw {
  hid_t type;
  std::vector<hsize_t> extents;
  const void* elements;
  std::vector<hsize_t> chunk = {};
  std::vector<const char*> attributes = {};  ///< attributes with the value "1"
};

/// Writes a file with one dataset, on rank 0, and closes the type.
void write_raw(const std::string& path, const std::string& name, const Raw& raw) {
  on_root([&] {
    const auto ndim = static_cast<int>(raw.extents.size());
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(ndim, raw.extents.data(), nullptr), create = H5Pcreate(H5P_DATASET_CREATE);
    if (!raw.chunk.empty()) {
      H5Pset_chunk(create, ndim, raw.chunk.data());
      H5Pset_shuffle(create);
      H5Pset_deflate(create, 4);
    }
    const hid_t set = H5Dcreate2(file, name.c_str(), raw.type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    H5Dwrite(set, raw.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw.elements);
    const hid_t one = H5Screate(H5S_SCALAR);
    for (const auto* attribute : raw.attributes) {
      const hid_t made = H5Acreate2(set, attribute, H5T_C_S1, one, H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(made, H5T_C_S1, "1");
      H5Idec_ref(made);
    }
    for (const hid_t id : {one, set, create, space, file}) H5Idec_ref(id);
  });
  H5Tclose(raw.type);
}

/// Returns the type of two floats with these names.
hid_t pair_type(hid_t part, const char* first, const char* second) {
  const auto bytes = H5Tget_size(part);
  const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * bytes);
  H5Tinsert(type, first, 0, part);
  H5Tinsert(type, second, bytes, part);
  return type;
}

void check_every_split(const std::string& path, const at::Tensor& expected, const std::string& field = {}) {
  for (const auto& split : every_split({expected.sizes().begin(), expected.sizes().end()}))
    for (const bool collective : {false, true}) {
      CAPTURE(path, split.value_or(-1), collective);
      const auto x = ht::io::load_hdf5(path, "x", {.split = split, .collective = collective, .field = field});
      CHECK(same(x, expected));
    }
}

struct Particle {
  float lon, lat;
  struct {
    double x, y;
  } place;
  std::int32_t kind;
  float speed[3];
};

/// Returns a type of records as PyTables writes them: numbers, records in records, a small array, and a text.
hid_t particle_type() {
  const hid_t place = pair_type(H5T_NATIVE_DOUBLE, "x", "y"), type = H5Tcreate(H5T_COMPOUND, sizeof(Particle));
  const hsize_t three = 3;
  const hid_t speed = H5Tarray_create2(H5T_NATIVE_FLOAT, 1, &three);
  H5Tinsert(type, "lon", offsetof(Particle, lon), H5T_NATIVE_FLOAT);
  H5Tinsert(type, "lat", offsetof(Particle, lat), H5T_NATIVE_FLOAT);
  H5Tinsert(type, "place", offsetof(Particle, place), place);
  H5Tinsert(type, "kind", offsetof(Particle, kind), H5T_NATIVE_INT32);
  H5Tinsert(type, "speed", offsetof(Particle, speed), speed);
  H5Tclose(place);
  H5Tclose(speed);
  return type;
}

}  // namespace

TEST_CASE("records are complex numbers by the names of their parts", "[io][elements]") {
  const TempDir dir;
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const auto expected = at::complex(at::tensor({1.F, 3.F, 5.F, 7.F, 9.F}), at::tensor({2.F, 4.F, 6.F, 8.F, 10.F}));
  for (const auto& [real, imaginary] : {std::pair{"r", "i"}, std::pair{"real", "imag"}, std::pair{"re", "im"}}) {
    write_raw(dir.path("a.h5"), "x", {pair_type(H5T_NATIVE_FLOAT, real, imaginary), {5}, values.data()});
    check_every_split(dir.path("a.h5"), expected);
  }
  write_raw(dir.path("b.h5"), "x", {pair_type(H5T_NATIVE_FLOAT, "i", "r"), {5}, values.data()});
  check_every_split(dir.path("b.h5"), at::complex(at::imag(expected), at::real(expected)));
}

TEST_CASE("two floats of other names are fields", "[io][elements]") {
  const TempDir dir;
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  write_raw(dir.path("a.h5"), "x", {pair_type(H5T_NATIVE_FLOAT, "lon", "lat"), {5}, values.data()});
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = 0}); }),
             Contains("records of \"lon\" (float32), \"lat\" (float32); expected the option field"));
  check_every_split(dir.path("a.h5"), at::tensor({1.F, 3.F, 5.F, 7.F, 9.F}), "lon");
  check_every_split(dir.path("a.h5"), at::tensor({2.F, 4.F, 6.F, 8.F, 10.F}), "lat");
  CHECK(same(ht::io::load(dir.path("a.h5"), {.split = 0, .field = "lat"}), at::tensor({2.F, 4.F, 6.F, 8.F, 10.F})));
  CHECK_THAT(ht::io::contents(dir.path("a.h5")).at(0).problem, Contains("\"lon\" (float32)"));
}

TEST_CASE("fields of records, in records, and small arrays", "[io][elements]") {
  const TempDir dir;
  std::vector<Particle> particles;
  for (int i = 0; i < 11; ++i) {
    const auto n = static_cast<float>(i);
    particles.push_back({n, -n, {n + 0.25, n + 0.5}, 10 * i, {n, 2 * n, 3 * n}});
  }
  const auto n = at::arange(11, at::kFloat);
  for (const auto& chunk : {std::vector<hsize_t>(), std::vector<hsize_t>{4}}) {
    const auto path = dir.path("a.h5");
    write_raw(path, "x", {particle_type(), {11}, particles.data(), chunk, {"CLASS", "VERSION"}});
    check_every_split(path, -n, "lat");
    check_every_split(path, n.to(at::kDouble) + 0.5, "place/y");
    check_every_split(path, n.to(at::kInt) * 10, "kind");
    check_every_split(path, at::stack({n, 2 * n, 3 * n}, 1), "speed");
    CHECK(same(ht::io::load(path, {.dataset = "x/place/x", .split = 0}), n.to(at::kDouble) + 0.25));
    const ht::io::StoredArray stored(path, {.dataset = "x/kind"});
    CHECK(same(stored.rows(3, 5), n.to(at::kInt).slice(0, 3, 8) * 10));
    const ht::io::StoredRows rows(path, "x/speed");
    CHECK(rows.shape() == ht::Shape{11, 3});
    const auto error = [&](const std::string& field) {
      return same_message<ht::IoError>([&] { return ht::io::load_hdf5(path, "x", {.field = field}); });
    };
    CHECK_THAT(error("height"), Contains("the field \"height\"") && Contains("\"place\" (records)"));
    CHECK_THAT(error(""),
               Contains("\"kind\" (int32), \"speed\" (float32 in arrays of (3,)); expected the option field"));
    CHECK_THAT(error("place"), Contains("records of \"x\" (float64), \"y\" (float64)"));
  }
  write_plain(dir.path("b.h5"), "x", counting({4}));
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load_hdf5(dir.path("b.h5"), "x", {.field = "lon"}); }),
             Contains("holds no records"));
  ht::io::save(ht::arange(4), dir.path("c.npy"));
  CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::load(dir.path("c.npy"), {.field = "lon"}); }),
             Contains("got field"));
}

TEST_CASE("array types are axes after those of the dataset", "[io][elements]") {
  const TempDir dir;
  const auto global = counting({7, 2, 3});
  const hsize_t inner[] = {2, 3};
  for (const auto& chunk : {std::vector<hsize_t>(), std::vector<hsize_t>{3}}) {
    write_raw(dir.path("a.h5"), "x", {H5Tarray_create2(H5T_NATIVE_FLOAT, 2, inner), {7}, global.data_ptr(), chunk});
    check_every_split(dir.path("a.h5"), global);
    for (const std::optional<int> split :
         {std::optional<int>(), std::optional(0), std::optional(1), std::optional(2)}) {
      const auto part = ht::io::load_hdf5(
          dir.path("a.h5"), "x",
          {.split = split, .slices = {ht::slice(1, 6, 2), ht::slice(1, 2), ht::slice(0, 3, 2)}, .dtype = ht::int64});
      CHECK(same(part, global.slice(0, 1, 6, 2).slice(1, 1, 2).slice(2, 0, 3, 2).to(at::kLong)));
    }
  }
}

TEST_CASE("bit fields are numbers by their width, and bool if PyTables wrote them", "[io][elements]") {
  const TempDir dir;
  const std::vector<std::uint8_t> bytes{0, 1, 5, 128, 255};
  write_raw(dir.path("a.h5"), "x", {H5Tcopy(H5T_STD_B8LE), {5}, bytes.data()});
  check_every_split(dir.path("a.h5"), at::tensor({0, 1, 5, 128, 255}, at::kByte));
  const std::vector<std::uint16_t> words{0, 1, 32768, 65535, 7};
  write_raw(dir.path("a.h5"), "x", {H5Tcopy(H5T_STD_B16LE), {5}, words.data()});
  check_every_split(dir.path("a.h5"), at::tensor({0, 1, 32768, 65535, 7}, at::kInt));
  const std::vector<std::uint32_t> longer{0, 1, 4294967295U, 7, 3};
  write_raw(dir.path("a.h5"), "x", {H5Tcopy(H5T_STD_B32LE), {5}, longer.data()});
  check_every_split(dir.path("a.h5"), at::tensor({0L, 1L, 4294967295L, 7L, 3L}, at::kLong));
  const std::vector<std::uint8_t> flags{0, 1, 1, 0};
  write_raw(dir.path("a.h5"), "x", {H5Tcopy(H5T_STD_B8LE), {4}, flags.data(), {}, {"CLASS", "VERSION"}});
  check_every_split(dir.path("a.h5"), at::tensor({0, 1, 1, 0}).to(at::kBool));
}

TEST_CASE("numbers from 2^63 on are read as floats if asked", "[io][elements]") {
  const TempDir dir;
  const std::vector<std::uint64_t> values{0, 3, std::uint64_t{1} << 63, UINT64_MAX, (std::uint64_t{1} << 63) + 1025};
  write_raw(dir.path("a.h5"), "x", {H5Tcopy(H5T_STD_U64LE), {5}, values.data()});
  std::vector<double> expected(values.begin(), values.end());
  for (const auto& split : every_split({5})) {
    CHECK(same(ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = split, .dtype = ht::float64}),
               at::tensor(expected, at::kDouble)));
    CHECK_THAT(same_message<ht::ValueError>([&] { return ht::io::load_hdf5(dir.path("a.h5"), "x", {.split = split}); }),
               Contains("2^63") && Contains("float64"));
  }
}

TEST_CASE("groups of openPMD and H5MD that stand for arrays", "[io][elements]") {
  const TempDir dir;
  const auto path = dir.path("a.h5");
  const auto positions = counting({4, 3}, at::kDouble);
  write_plain(path, "particles/position/value", positions);
  on_root([&] {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "mass", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t two = 2;
    const hid_t one = H5Screate(H5S_SCALAR), list = H5Screate_simple(1, &two, nullptr);
    const hid_t value = H5Acreate2(group, "value", H5T_NATIVE_DOUBLE, one, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t shape = H5Acreate2(group, "shape", H5T_NATIVE_UINT64, list, H5P_DEFAULT, H5P_DEFAULT);
    const double mass = 1.5;
    const std::uint64_t extents[] = {5, 2};
    H5Awrite(value, H5T_NATIVE_DOUBLE, &mass);
    H5Awrite(shape, H5T_NATIVE_UINT64, extents);
    const std::int64_t step = 10;
    const hid_t steps =
        H5Dcreate2(file, "particles/position/step", H5T_NATIVE_INT64, one, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(steps, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &step);
    for (const hid_t id : {steps, shape, value, list, one, group, file}) H5Idec_ref(id);
  });
  for (const auto& split : every_split({5, 2}))
    for (const bool collective : {false, true}) {
      CHECK(same(ht::io::load_hdf5(path, "mass", {.split = split, .collective = collective}),
                 at::full({5, 2}, 1.5, at::kDouble)));
      CHECK(same(ht::io::load_hdf5(path, "mass", {.split = split, .slices = {ht::slice(1, 4)}, .dtype = ht::int32}),
                 at::ones({3, 2}, at::kInt)));
      CHECK(same(ht::io::load_hdf5(path, "particles/position", {.split = split, .collective = collective}), positions));
    }
  const auto all = ht::io::contents(path);
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "mass");
  CHECK(all[0].shape == ht::Shape{5, 2});
  CHECK(all[0].dtype == ht::float64);
}

TEST_CASE("files of a set without the dataset have no rows of it", "[io][elements]") {
  const TempDir dir;
  const auto global = counting({6, 2});
  write_plain(dir.path("p-0.h5"), "g/x", global.slice(0, 0, 4));
  write_plain(dir.path("p-1.h5"), "g/y", global);
  write_plain(dir.path("p-2.h5"), "z", global);
  write_plain(dir.path("p-3.h5"), "g/x", global.slice(0, 4, 6));
  std::vector<std::string> said;
  ht::set_log([&](ht::LogLevel, std::string_view text) { said.emplace_back(text); },
              {.level = ht::LogLevel::warning, .all_ranks = true});
  for (const auto& split : every_split({6, 2})) {
    said.clear();
    CHECK(same(ht::io::load_hdf5(dir.path("p-*.h5"), "g/x", {.split = split}), global));
    REQUIRE(said.size() == 1);
    CHECK_THAT(said[0], Contains("2 of 4 files have no array \"g/x\"") && Contains("p-1.h5"));
  }
  CHECK(same(ht::io::StoredArray(dir.path("p-*.h5"), {.dataset = "g/x"}).all(), global));
  // Numbers with attributes are copied as they are stored, for which the files are described once more.
  const auto rows = distribute(global, ht::Layout({6, 2}, 0, ht::world().size()));
  for (const auto* name : {"s-0.h5", "s-2.h5"})
    ht::io::save_hdf5(rows, dir.path(name), "x", {.attributes = {{"scale_factor", 2.0}}});
  write_plain(dir.path("s-1.h5"), "z", global);
  said.clear();
  ht::io::convert(ht::io::StoredArray(dir.path("s-*.h5"), {.dataset = "x"}), dir.path("s.zarr"));
  CHECK(said.size() == 1);
  CHECK(same(ht::io::load(dir.path("s.zarr")), at::cat({global, global}).to(at::kDouble).mul(2)));
  ht::set_log({});
  CHECK_THAT(same_message<ht::IoError>([&] { return ht::io::load_hdf5(dir.path("p-*.h5"), "no", {.split = 0}); }),
             Contains("4 files without an array \"no\""));
}
