#include "data.hpp"

#include <heatpp/ml/ml.hpp>
#include <heatpp_io/hdf5/rows.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>

#include <filesystem>

namespace {

/// A file that all ranks see, and the last removes.
struct Stored {
  explicit Stored(const at::Tensor& x, const char* name) : path(std::filesystem::temp_directory_path() / name) {
    const ht::Shape shape(x.sizes().begin(), x.sizes().end());
    ht::io::save_hdf5(distribute(x, ht::Layout(shape, 0, ht::world().size())), path.string(), "x");
  }
  ~Stored() {
    ht::world().barrier();
    if (ht::world().rank() == 0) std::filesystem::remove(path);
  }
  std::filesystem::path path;
};

}  // namespace

TEST_CASE("estimators learn from rows in files what they learn from arrays", "[ml][stored]") {
  const auto x = iris().repeat({3000, 1}) + at::arange(450'000, at::kDouble).unsqueeze(1) * 1e-6;  // four stretches
  const Stored file(x, "heatpp_ml_stored.h5");
  const auto stored = ht::io::rows(ht::io::StoredRows(file.path.string(), "x"));
  const auto array = distribute(x, ht::Layout({450'000, 4}, 0, ht::world().size()));

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
  CHECK_THROWS_AS(ht::Rows(ht::ones({3, 2}, {.dtype = ht::complex64})), ht::TypeError);
  CHECK_THROWS_AS(ht::Rows(-1, 2, [](auto, auto) { return at::Tensor(); }), ht::ValueError);
  const ht::Rows wrong(2, 3, [](auto, std::int64_t n) { return at::ones({n, 2}); });
  CHECK_THROWS_WITH(ht::PCA().fit(wrong), Catch::Contains("expected (2, 3)"));
}
