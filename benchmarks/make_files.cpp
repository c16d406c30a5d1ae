// Writes the files that the input workloads read: `make_files DIRECTORY`. Existing files are kept.
#include "streams.hpp"

#include <hdf5.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr hsize_t width = 512;
constexpr hsize_t rows_at_once = 4096;

hid_t checked(hid_t id, const char* what) {
  if (id < 0) throw std::runtime_error(std::string("make_files: got an HDF5 error; expected to ") + what);
  return id;
}

/// Returns the storage: chunks of 4096 x 128 with gzip level 4, or contiguous.
hid_t storage(bool compressed) {
  const auto properties = checked(H5Pcreate(H5P_DATASET_CREATE), "describe a dataset");
  const hsize_t chunk[] = {rows_at_once, 128};
  if (compressed) {
    checked(H5Pset_chunk(properties, 2, chunk), "set chunks");
    checked(H5Pset_deflate(properties, 4), "set compression");
  }
  return properties;
}

void write_rows(hid_t dataset, hsize_t at, const std::vector<float>& rows) {
  const hsize_t start[] = {at, 0}, count[] = {rows_at_once, width};
  const auto file_space = checked(H5Dget_space(dataset), "get a dataset's extent");
  const auto memory_space = checked(H5Screate_simple(2, count, nullptr), "make an extent");
  H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, nullptr, count, nullptr);
  checked(H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory_space, file_space, H5P_DEFAULT, rows.data()), "write rows");
  H5Sclose(memory_space);
  H5Sclose(file_space);
}

/// Writes rows first .. first + height of the matrix of bytes `seed` as "data"; the file gets its name at the end.
void make_file(const fs::path& path, std::uint64_t seed, hsize_t first, hsize_t height, bool compressed = false) {
  if (fs::exists(path)) return;
  const auto aside = path.string() + ".part";
  const hsize_t extents[] = {height, width};
  const auto file = checked(H5Fcreate(aside.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "create a file");
  const auto space = checked(H5Screate_simple(2, extents, nullptr), "make an extent");
  const auto properties = storage(compressed);
  const auto dataset =
      checked(H5Dcreate(file, "data", H5T_IEEE_F32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT), "create a dataset");
  std::vector<float> rows(rows_at_once * width);
  for (hsize_t at = 0; at < height; at += rows_at_once) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = bench::byte(seed, (first + at) * width + i);
    write_rows(dataset, at, rows);
  }
  H5Dclose(dataset);
  H5Pclose(properties);
  H5Sclose(space);
  checked(H5Fclose(file), "close a file");
  fs::rename(aside, path);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("make_files: got no directory; expected make_files DIRECTORY");
  const fs::path directory = argv[1];
  fs::create_directories(directory);
  constexpr hsize_t height = 524'288, shards = 16;
  make_file(directory / "contiguous.h5", 91, 0, height);
  for (hsize_t s = 0; s < shards; ++s) {
    const auto name = std::string("shard-") + (s < 10 ? "0" : "") + std::to_string(s) + ".h5";
    make_file(directory / name, 91, s * height / shards, height / shards);
  }
  make_file(directory / "gzip.h5", 92, 0, 131'072, true);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
