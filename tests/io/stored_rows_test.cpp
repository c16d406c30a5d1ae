#include "files.hpp"

#include <atomic>
#include <filesystem>
#include <thread>

namespace {

std::vector<std::int64_t> numbers(const at::Tensor& rows) {
  return {rows.const_data_ptr<std::int64_t>(), rows.const_data_ptr<std::int64_t>() + rows.numel()};
}

/// Returns increasing rows of 1000: all, none, pairs, far apart, and with small gaps.
std::vector<at::Tensor> choices() {
  const auto all = at::arange(1000, at::kLong);
  return {all, all.narrow(0, 0, 0), all.narrow(0, 998, 2), all.slice(0, 3, 1000, 97).contiguous(),
          all.masked_select(all.remainder(7).lt(3))};
}

}  // namespace

TEST_CASE("Rows of many files are read by their numbers", "[io][stored_rows]") {
  const TempDir dir;
  const auto whole = counting({1000, 3, 5}, at::kInt);
  std::int64_t first = 0;
  for (const std::int64_t rows : {0, 400, 1, 599}) {
    const Storage storage{.chunk = {7, 3, 2}, .gzip = rows == 400 ? 1 : -1};
    write_plain(dir.path("part-" + std::to_string(first) + "." + std::to_string(rows) + ".h5"), "x",
                whole.narrow(0, first, rows), rows == 400 ? storage : Storage{});
    first += rows;
  }

  const ht::io::StoredRows stored(dir.path("part-*.h5"), "x"),
      halves(dir.path("part-*.h5"), "x", {.dtype = ht::float16});

  CHECK(stored.shape() == ht::Shape{1000, 3, 5});
  CHECK(stored.dtype() == ht::int32);
  for (const auto& rows : choices()) {
    CHECK(equals(stored.read(numbers(rows)), whole.index_select(0, rows)));
    CHECK(equals(halves.read(numbers(rows)), whole.index_select(0, rows).to(at::kHalf)));
  }
}

TEST_CASE("numbers that do not increase or are out of range are refused", "[io][stored_rows]") {
  const TempDir dir;
  write_plain(dir.path("x.h5"), "x", counting({6, 2}));
  write_plain(dir.path("scalar.h5"), "x", counting({}));
  const ht::io::StoredRows stored(dir.path("x.h5"), "x");

  for (const std::vector<std::int64_t>& bad : {std::vector<std::int64_t>{-1}, {6}, {3, 3}, {3, 2}})
    CHECK_THROWS_AS(stored.read(bad), ht::IndexError);
  CHECK_THROWS_AS(ht::io::StoredRows(dir.path("none.h5"), "x"), ht::IoError);
  CHECK_THROWS_AS(ht::io::StoredRows(dir.path("scalar.h5"), "x"), ht::ValueError);
}

TEST_CASE("A file that becomes shorter is an error and no zeros", "[io][stored_rows]") {
  const TempDir dir;
  write_plain(dir.path("x.h5"), "x", counting({100000, 2}));
  const ht::io::StoredRows stored(dir.path("x.h5"), "x");
  CHECK(stored.read(std::vector<std::int64_t>{5}).sum().item<float>() == 21);

  on_root([&] { std::filesystem::resize_file(dir.path("x.h5"), 100000); });

  const auto message = message_of<ht::IoError>([&] { (void)stored.read(std::vector<std::int64_t>{99999}); });
  CHECK_THAT(message, Catch::Contains("x.h5"));
}

TEST_CASE("Threads take turns with HDF5", "[io][stored_rows]") {
  const TempDir dir;
  const auto whole = counting({3000, 8});
  write_plain(dir.path("x.h5"), "x", whole);
  const ht::io::StoredRows stored(dir.path("x.h5"), "x");
  const auto rows = numbers(at::arange(0, 3000, 3));
  int right = 0;

  std::thread reader([&] {
    for (int i = 0; i < 20; ++i) right += stored.read(rows).equal(whole.slice(0, 0, 3000, 3));
  });
  for (int i = 0; i < 5; ++i) CHECK(same(ht::io::load_hdf5(dir.path("x.h5"), "x", {.split = 0}), whole));
  reader.join();

  CHECK(right == 20);
}

TEST_CASE("Threads inflate chunks of many files at once, and HDF5 speaks as before", "[io][stored_rows]") {
  const TempDir dir;
  const auto whole = counting({600, 40, 8}, at::kShort);
  for (std::int64_t file = 0; file < 12; ++file)  // more than stay open
    write_plain(dir.path("part-" + std::to_string(10 + file) + ".h5"), "x", whole.narrow(0, 50 * file, 50),
                {.chunk = {1, 40, 8}, .gzip = 1, .shuffle = file % 2 == 1});
  const ht::io::StoredRows stored(dir.path("part-*.h5"), "x");
  H5E_auto2_t before = nullptr, after = nullptr;
  void *data = nullptr, *same = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  std::atomic<int> right = 0;

  std::vector<std::thread> readers;
  for (int thread = 0; thread < 3; ++thread)
    readers.emplace_back([&, thread] {
      for (int i = 0; i < 8; ++i) {
        const auto rows = at::arange(thread + i, 600, 7 + i, at::kLong);
        right += stored.read(numbers(rows)).equal(whole.index_select(0, rows));
      }
    });
  for (auto& reader : readers) reader.join();

  CHECK(right == 24);
  H5Eget_auto2(H5E_DEFAULT, &after, &same);
  CHECK(before == after);
  CHECK(data == same);
}

TEST_CASE("rows beyond 2^31 and 2^33 bytes are read", "[io][stored_rows]") {
  const TempDir dir;
  const auto path = dir.path("large.h5");
  constexpr std::int64_t width = 4096, rows = (std::int64_t{1} << 33) / width + 1,
                         middle = (std::int64_t{1} << 31) / width;
  on_root([&] {  // the file has holes where nothing was written
    const auto file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const std::array<hsize_t, 2> shape{rows, width}, one{1, width};
    const auto space = H5Screate_simple(2, shape.data(), nullptr), memory = H5Screate_simple(2, one.data(), nullptr);
    const auto how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
    const auto dataset = H5Dcreate2(file, "x", H5T_NATIVE_INT8, space, H5P_DEFAULT, how, H5P_DEFAULT);
    for (const auto& [row, value] : {std::pair{middle, 5}, std::pair{rows - 1, 7}}) {
      const std::vector<std::int8_t> values(width, static_cast<std::int8_t>(value));
      const std::array<hsize_t, 2> first{static_cast<hsize_t>(row), 0};
      H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, one.data(), nullptr);
      CHECK(H5Dwrite(dataset, H5T_NATIVE_INT8, memory, space, H5P_DEFAULT, values.data()) >= 0);
    }
    H5Dclose(dataset), H5Pclose(how), H5Sclose(memory), H5Sclose(space), H5Fclose(file);
  });

  const ht::io::StoredRows stored(path, "x");

  CHECK(stored.shape() == ht::Shape{rows, width});
  const auto read = stored.read(std::array{middle - 1, middle, rows - 1});
  CHECK(equals(read, at::tensor({0, 5, 7}, at::kChar).unsqueeze(1).expand({3, width})));
}
