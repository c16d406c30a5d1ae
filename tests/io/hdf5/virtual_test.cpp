#include "../files.hpp"

#include <filesystem>

namespace {

using Catch::Contains;
using ht::io::MissingSources;

constexpr hsize_t columns = 3;
const std::optional<int> splits[] = {std::nullopt, 0, 1};

/// Writes a virtual dataset of files with the pattern "s-%b.h5", each with `rows` rows.
void write_pattern(const TempDir& dir, hsize_t rows) {
  on_root([&] {
    const hsize_t none[] = {0, columns}, endless[] = {H5S_UNLIMITED, columns}, block[] = {rows, columns};
    const hid_t space = H5Screate_simple(2, none, endless), source = H5Screate_simple(2, block, nullptr);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t start[] = {0, 0}, step[] = {rows, columns}, count[] = {H5S_UNLIMITED, 1};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, step, count, block);
    H5Pset_virtual(create, space, "s-%b.h5", "x", source);
    const float fill = -1;
    H5Pset_fill_value(create, H5T_NATIVE_FLOAT, &fill);
    const hid_t file = H5Fcreate(dir.path("v.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, create, H5P_DEFAULT);
    for (const hid_t id : {set, create, source, space, file}) H5Idec_ref(id);
  });
}

/// Writes a virtual dataset with 3 rows from each of two files: all rows of the first, and rows 2 to 4 of the second.
void write_named(const TempDir& dir) {
  on_root([&] {
    const hsize_t all[] = {6, columns}, three[] = {3, columns}, five[] = {5, columns};
    const hid_t space = H5Screate_simple(2, all, nullptr), create = H5Pcreate(H5P_DATASET_CREATE);
    const float fill = -1;
    H5Pset_fill_value(create, H5T_NATIVE_FLOAT, &fill);
    const hsize_t at[] = {0, 0}, behind[] = {3, 0}, from[] = {2, 0};
    const hid_t whole = H5Screate_simple(2, three, nullptr), part = H5Screate_simple(2, five, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, three, nullptr);
    H5Pset_virtual(create, space, "a.h5", "x", whole);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, behind, nullptr, three, nullptr);
    H5Sselect_hyperslab(part, H5S_SELECT_SET, from, nullptr, three, nullptr);
    H5Pset_virtual(create, space, "b.h5", "x", part);
    H5Sselect_all(space);
    const hid_t file = H5Fcreate(dir.path("v.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, create, H5P_DEFAULT);
    for (const hid_t id : {set, part, whole, create, space, file}) H5Idec_ref(id);
  });
}

/// Returns the error, which is equal for all ranks and splits.
std::string error_of(const TempDir& dir) {
  std::string text;
  for (const auto& split : splits) {
    auto found = same_message<ht::IoError>([&] { return ht::io::load_hdf5(dir.path("v.h5"), "x", {.split = split}); });
    if (!text.empty()) CHECK(found == text);
    text = std::move(found);
  }
  CHECK_THAT(text, Contains("missing_sources"));
  return text;
}

void check_filled(const TempDir& dir, const at::Tensor& expected) {
  for (const auto& split : splits)
    CHECK(same(ht::io::load_hdf5(dir.path("v.h5"), "x", {.split = split, .missing_sources = MissingSources::fill}),
               expected));
}

}  // namespace

TEST_CASE("virtual datasets of files by a pattern", "[io][virtual]") {
  const TempDir dir;
  const auto global = counting({8, 3});
  write_pattern(dir, 2);
  CHECK_THAT(error_of(dir), Contains("\"s-%b.h5\", a pattern that nothing fits"));
  for (int i = 0; i < 4; ++i)
    write_plain(dir.path("s-" + std::to_string(i) + ".h5"), "x", global.slice(0, 2 * i, 2 * i + 2));
  write_plain(dir.path("s-x.h5"), "x", global);
  for (const auto& split : splits) CHECK(same(ht::io::load_hdf5(dir.path("v.h5"), "x", {.split = split}), global));

  on_root([&] { std::filesystem::remove(dir.path("s-2.h5")); });
  CHECK_THAT(error_of(dir), Contains("\"s-2.h5\", which is missing in the pattern that 3 fits"));
  check_filled(dir, global.slice(0, 0, 4));

  write_plain(dir.path("s-2.h5"), "x", global.slice(0, 0, 1));
  CHECK_THAT(error_of(dir), Contains("\"s-2.h5\", whose dataset \"x\" has the shape (1, 3), which is not 6 elements"));
  write_plain(dir.path("s-2.h5"), "y", global);
  CHECK_THAT(error_of(dir), Contains("\"s-2.h5\", which has no dataset \"x\""));
}

TEST_CASE("sources that do not cover their part", "[io][virtual]") {
  const TempDir dir;
  const auto global = counting({8, 3});
  write_named(dir);
  write_plain(dir.path("a.h5"), "x", global.slice(0, 0, 3));
  write_plain(dir.path("b.h5"), "x", global.slice(0, 1, 6));
  for (const auto& split : splits)
    CHECK(same(ht::io::load_hdf5(dir.path("v.h5"), "x", {.split = split}), global.slice(0, 0, 6)));

  write_plain(dir.path("b.h5"), "x", global.slice(0, 1, 5));
  CHECK_THAT(error_of(dir),
             Contains("\"b.h5\", whose dataset \"x\" has the shape (4, 3), which does not cover (5, 3)"));
  write_plain(dir.path("b.h5"), "x", global.slice(0, 1, 6));
  write_plain(dir.path("a.h5"), "x", global.slice(0, 0, 2));
  CHECK_THAT(error_of(dir), Contains("\"a.h5\", whose dataset \"x\" has the shape (2, 3), which is not 9 elements"));
  on_root([&] { std::filesystem::remove(dir.path("a.h5")); });
  CHECK_THAT(error_of(dir), Contains("\"a.h5\", a file that is missing"));
  check_filled(dir, at::cat({at::full({3, 3}, -1.F), global.slice(0, 3, 6)}));
}
