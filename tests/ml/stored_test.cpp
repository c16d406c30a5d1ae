#include "../scratch_path.hpp"
#include "data.hpp"

#include <heatpp/ml/ml.hpp>
#include <heatpp_io/hdf5/rows.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>
#include <heatpp_io/zarr/zarr.hpp>

#include <filesystem>

namespace {

ht::DNDarray cut_in_rows(const at::Tensor& x) {
  return distribute(x, ht::Layout({x.sizes().begin(), x.sizes().end()}, 0, ht::world().size()));
}

/// A file that all ranks see, and that the last rank removes.
struct Stored {
  explicit Stored(const char* name) : path(scratch_path(name)) {}
  Stored(const at::Tensor& x, const char* name) : Stored(name) {
    ht::io::save_hdf5(cut_in_rows(x), path.string(), "x");
  }
  ~Stored() {
    ht::world().barrier();
    if (ht::world().rank() == 0) std::filesystem::remove_all(path);
  }
  Stored(const Stored&) = delete;
  Stored& operator=(const Stored&) = delete;
  std::filesystem::path path;
};

/// Whether every rank's passes give its part of x, in consecutive blocks, and one read gives the same.
bool gives(const ht::Rows& rows, const at::Tensor& x) {
  const auto mine = x.slice(0, rows.first(), rows.first() + rows.count());
  bool right = rows.size() == x.size(0) && rows.distributed();
  for (int pass = 0; pass < 2; ++pass) {
    std::int64_t next = 0;
    rows.pass([&](std::int64_t first, const at::Tensor& block) {
      right = right && first == next && at::equal(block, mine.slice(0, first, first + block.size(0)));
      next += block.size(0);
    });
    right = right && next == rows.count();
  }
  return right && (rows.count() < 3 || at::equal(rows.read(1, 2), mine.slice(0, 1, 3)));
}

}  // namespace

TEST_CASE("estimators give the same state for rows in files as for arrays", "[ml][stored]") {
  const auto x = iris().repeat({3000, 1}) + at::arange(450'000, at::kDouble).unsqueeze(1) * 1e-6;  // four stretches
  const Stored file(x, "heatpp_ml_stored.h5");
  const auto stored = ht::io::rows(ht::io::StoredRows(file.path.string(), "x"));
  const auto array = cut_in_rows(x);

  ht::KMeans from_file({.n_clusters = 3, .seed = 2}), from_array({.n_clusters = 3, .seed = 2});
  from_file.fit(stored);
  from_array.fit(array);
  CHECK(from_file.inertia() == Approx(from_array.inertia()).epsilon(1e-12));
  CHECK(same(from_file.labels(), gathered(from_array.labels())));
  CHECK(close(ht::PCA().fit(stored).explained_variance(), gathered(ht::PCA().fit(array).explained_variance())));
  const ht::PCA in_full({.n_components = 2, .solver = ht::PcaSolver::full});
  CHECK(close(ht::PCA(in_full).fit(stored).singular_values(), gathered(ht::PCA(in_full).fit(array).singular_values())));
  ht::IncrementalPCA batches({.n_components = 2, .batch_size = 100'000});
  CHECK(close(batches.fit(stored).singular_values(),
              gathered(ht::IncrementalPCA(batches.options()).fit(array).singular_values())));
  CHECK(close(ht::StandardScaler().fit(stored).mean(), x.mean(0)));
  CHECK(close(ht::MinMaxScaler().fit(stored).data_max(), std::get<0>(x.max(0))));
}

TEST_CASE("each rank reads its rows of a Zarr store, for any chunks", "[ml][stored]") {
  const auto x = at::arange(700'000 * 3, at::kDouble).reshape({700'000, 3}).remainder(1009);
  for (const ht::io::SaveZarrOptions& how :
       {ht::io::SaveZarrOptions{}, {.chunks = {9999, 2}, .compression = 1}, {.chunks = {700'000, 3}}}) {
    const Stored store("heatpp_ml_stored.zarr");
    ht::io::save_zarr(cut_in_rows(x), store.path, how);
    CHECK(gives(ht::io::zarr_rows(store.path), x));
    CHECK(gives(ht::io::zarr_rows(store.path, "", {.dtype = ht::float32}), x.to(at::kFloat)));
  }
}

TEST_CASE("estimators learn from rows in many Zarr stores and netCDF files", "[ml][stored]") {
  const auto x = iris().repeat({1000, 1}) + at::arange(150'000, at::kDouble).unsqueeze(1) * 1e-6;
  const Stored directory("heatpp_ml_shards");
  if (ht::world().rank() == 0) std::filesystem::create_directory(directory.path);
  ht::world().barrier();
  const auto name = [&](const char* part) { return directory.path / part; };
  std::vector<ht::Rows> sources;
  for (const auto& [part, first, last] : {std::tuple("a", 0, 40'001), {"b", 40'001, 40'002}, {"c", 40'002, 150'000}})
    ht::io::save_zarr(cut_in_rows(x.slice(0, first, last)), name(part).string() + ".zarr", {.chunks = {1500, 4}});
  sources.push_back(ht::io::zarr_rows(name("*.zarr")));
  if (ht::io::supports_netcdf()) {
    ht::io::save_netcdf(cut_in_rows(x.slice(0, 0, 70'000)), name("a.nc"), "x", {.compression = 1});
    ht::io::save_netcdf(cut_in_rows(x.slice(0, 70'000)), name("b.nc"), "x", {.compression = 1});
    sources.push_back(ht::io::netcdf_rows(name("*.nc"), "x"));
  }
  ht::KMeans from_array({.n_clusters = 3, .seed = 2});
  from_array.fit(cut_in_rows(x));
  for (const auto& rows : sources) {
    CHECK(gives(rows, x));
    ht::KMeans from_files({.n_clusters = 3, .seed = 2});
    from_files.fit(rows);
    CHECK(from_files.inertia() == Approx(from_array.inertia()).epsilon(1e-12));
    CHECK(same(from_files.labels(), gathered(from_array.labels())));
    CHECK(close(ht::StandardScaler().fit(rows).mean(), x.mean(0)));
  }
}

TEST_CASE("a chunk that is damaged or a file that becomes shorter while rows are read are errors on all ranks",
          "[ml][stored]") {
  const Stored store("heatpp_ml_damaged.zarr"), file("heatpp_ml_damaged.nc");
  const auto x = iris().repeat({100, 1});
  ht::io::save_zarr(cut_in_rows(x), store.path, {.chunks = {5000, 4}});
  const auto rows = ht::io::zarr_rows(store.path);
  CHECK_NOTHROW(ht::PCA().fit(rows));
  ht::world().barrier();
  if (ht::world().rank() == 0) std::filesystem::resize_file(store.path / "data" / "2.0", 100);
  ht::world().barrier();
  CHECK_THROWS_WITH(ht::PCA().fit(rows), Catch::Contains("of 100 bytes"));
  CHECK_THROWS_AS(ht::io::zarr_rows(file.path), ht::IoError);
  if (!ht::io::supports_netcdf()) return;
  ht::io::save_netcdf(cut_in_rows(x), file.path, "x");
  const auto variable = ht::io::netcdf_rows(file.path, "x");
  CHECK_NOTHROW(ht::PCA().fit(variable));
  ht::world().barrier();
  if (ht::world().rank() == 0) std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) / 2);
  ht::world().barrier();
  CHECK_THROWS_AS(ht::PCA().fit(variable), ht::IoError);
}

TEST_CASE("a bad row in a file, and a file that becomes shorter, are errors on all ranks", "[ml][stored]") {
  auto x = iris();
  x[149][0] = NAN;
  const Stored file(x, "heatpp_ml_bad.h5");
  const auto stored = ht::io::rows(ht::io::StoredRows(file.path.string(), "x"));
  CHECK_THROWS_WITH(ht::KMeans({.n_clusters = 3}).fit(stored), Catch::Contains("got nan in row 149, column 0"));
  ht::world().barrier();
  if (ht::world().rank() == 0) std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) - 8);
  ht::world().barrier();
  CHECK_THROWS_AS(ht::PCA().fit(stored), ht::IoError);
  CHECK_THROWS_AS(ht::PCA({.solver = ht::PcaSolver::full}).fit(stored), ht::IoError);
}

TEST_CASE("rows are matrices of real numbers", "[ml][stored]") {
  const Stored line(at::ones({5}, at::kDouble), "heatpp_ml_line.h5");
  const ht::io::StoredRows stored(line.path.string(), "x");
  CHECK_THROWS_AS(ht::io::rows(stored), ht::ValueError);
  const Stored store("heatpp_ml_line.zarr");
  ht::io::save_zarr(ht::ones({5, 2}, {.dtype = ht::complex64, .split = 0}), store.path);
  CHECK_THROWS_AS(ht::io::zarr_rows(store.path), ht::TypeError);
  ht::io::save_zarr(ht::ones({5}, {.split = 0}), store.path);
  CHECK_THROWS_WITH(ht::io::zarr_rows(store.path), Catch::Contains("shape (5,)"));
  CHECK_THROWS_AS(ht::Rows(ht::ones({3, 2}, {.dtype = ht::complex64})), ht::TypeError);
  CHECK_THROWS_AS(ht::Rows(-1, 2, [](auto, auto) { return at::Tensor(); }), ht::ValueError);
  const ht::Rows wrong(2, 3, [](auto, std::int64_t n) { return at::ones({n, 2}); });
  CHECK_THROWS_WITH(ht::PCA().fit(wrong), Catch::Contains("expected (2, 3)"));
}
