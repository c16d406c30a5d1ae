// Files. benchmarks/make_files writes the inputs.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

#include <heatpp_io/heatpp_io.hpp>

#include <filesystem>

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

constexpr char plain[] = "plain", shards[] = "shards";

/// 512 MiB by zstd in chunks of 2 MiB, 32 of them in a shard.
ht::io::SaveOptions storage(std::string_view kind) {
  ht::io::SaveOptions options{.compression = "zstd:3", .chunks = {4096, 128}, .zarr_format = 3};
  if (kind == shards) options.zarr_shards = {32'768, 512};
  return options;
}
ht::DNDarray stored_numbers() { return generate<byte>(91, {262'144, 512}); }

/// The peers read the same store.
template <const char* Kind>
Prepared load_store() {
  const auto path = path_of((std::string(Kind) + ".zarr").c_str());
  if (!std::filesystem::exists(path)) ht::io::save(stored_numbers(), path, storage(Kind));
  return timed([path] { return ht::io::load(path, {.split = 0}); }, check_sums);
}

template <const char* Kind>
Prepared save_store() {
  const auto path = path_of("saved_by_heatpp.zarr");
  return timed(
      [path, x = stored_numbers()] {
        ht::io::save(x, path, storage(Kind));
        return path;
      },
      [](const auto& saved) { return check_sums(ht::io::load(saved, {.split = 0})); });
}

/// 512 MiB without chunks; the peers read the same file.
Prepared load_netcdf() {
  const auto path = path_of("numbers.nc");
  if (!std::filesystem::exists(path)) ht::io::save_netcdf(stored_numbers(), path, "data");
  return timed([path] { return ht::io::load_netcdf(path, "data", {.split = 0}); }, check_sums);
}

Prepared save_netcdf() {
  const auto path = path_of("saved_by_heatpp.nc");
  return timed(
      [path, x = stored_numbers()] {
        ht::io::save_netcdf(x, path, "data");
        return path;
      },
      [](const auto& saved) { return check_sums(ht::io::load_netcdf(saved, "data", {.split = 0})); });
}

/// Ten columns of 10^6 float64, as many digits as they need or four decimals; the peers read the same file.
Prepared load_table(const char* name, std::optional<int> decimals) {
  const auto path = path_of(name);
  if (!std::filesystem::exists(path))
    ht::io::save_csv(generate<normal>(92, {1'000'000, 10}).astype(ht::float64), path, {.decimals = decimals});
  return timed([path] { return ht::io::load_csv(path, {.dtype = ht::float64, .split = 0}); }, check_sums);
}
Prepared load_digits() { return load_table("csv_digits.csv", std::nullopt); }
Prepared load_decimals() { return load_table("csv_decimals.csv", 4); }

}  // namespace

std::vector<Workload> io_workloads() {
  return {{"hdf5_load0", "file", load_file<0>, "file"},
          {"hdf5_load0", "16 shards", load_shards<0>, "shards"},
          {"hdf5_load1", "file", load_file<1>, "file"},
          {"hdf5_load1", "16 shards", load_shards<1>, "shards"},
          {"hdf5_gzip0", "file", load_compressed<0>},
          {"hdf5_gzip1", "file", load_compressed<1>},
          {"hdf5_save", "file", save},
          {"zarr_load", "zstd", load_store<plain>, plain},
          {"zarr_load", "zstd in shards", load_store<shards>, shards},
          {"zarr_save", "zstd", save_store<plain>, plain},
          {"zarr_save", "zstd in shards", save_store<shards>, shards},
          {"netcdf_load", "netCDF-4", load_netcdf},
          {"netcdf_save", "netCDF-4", save_netcdf},
          {"csv_digits", "CSV", load_digits},
          {"csv_decimals", "CSV", load_decimals}};
}

}  // namespace bench
