#include "newest.hpp"
#include "../sparse/sparse_data.hpp"

#include <heatpp/sparse/io/files.hpp>

TEST_CASE("sparse matrices of today's writers are read and written back", "[.newest]") {
  const auto all = newest_arrays(/*sparse=*/true);
  CHECK(all.size() > 8);
  for (const auto& x : all) {
    CAPTURE(x.file, x.array);
    const auto expected = ht::io::load_npy(newest_path(x.name + ".npy")).larray();
    for (const std::optional<int> split : {std::optional<int>(), std::optional(0)}) {
      const auto a = sp::load(x.file, {.group = x.array, .split = split});
      CHECK(same_matrix(a, expected));
      if (!split) continue;
      for (const std::string to : {".h5ad", ".npz", ".mtx"}) sp::save(a, newest_path("out/" + x.name + to));
    }
  }
}
