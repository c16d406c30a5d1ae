// Files. benchmarks/make_files writes the inputs.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

#include <heatpp_io/heatpp_io.hpp>

namespace bench {
namespace {

Prepared load(const char* file, int split) {
  return timed([path = path_of(file), split] { return ht::io::load_hdf5(path, "data", {.split = split}); }, check_sums);
}

template <int Split>
Prepared load_file() {
  return load("contiguous.h5", Split);
}

template <int Split>
Prepared load_shards() {
  return load("shard-*.h5", Split);
}

template <int Split>
Prepared load_compressed() {
  return load("gzip.h5", Split);
}

Prepared save() {
  const auto path = path_of("saved_by_heatpp.h5");
  return timed(
      [path, x = generate<byte>(91, {262'144, 512})] {
        ht::io::save_hdf5(x, path, "data");
        return path;
      },
      [](const auto& saved) { return check_sums(ht::io::load_hdf5(saved, "data", {.split = 0})); });
}

}  // namespace

std::vector<Workload> io_workloads() {
  return {{"hdf5_load0", "file", load_file<0>, "file"},
          {"hdf5_load0", "16 shards", load_shards<0>, "shards"},
          {"hdf5_load1", "file", load_file<1>, "file"},
          {"hdf5_load1", "16 shards", load_shards<1>, "shards"},
          {"hdf5_gzip0", "file", load_compressed<0>},
          {"hdf5_gzip1", "file", load_compressed<1>},
          {"hdf5_save", "file", save}};
}

}  // namespace bench
