#include "detail/csv_options.hpp"
#include "detail/row_progress.hpp"
#include "detail/text.hpp"
#include "tool.hpp"

#include <fmt/ranges.h>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/stream/convert.hpp>

#include <algorithm>
#include <chrono>
#include <map>

namespace tools {
namespace {

constexpr auto op = "convert";

struct Options {
  std::vector<std::string> files;
  std::string dataset, name, chunks, dtype;
  std::int64_t shards = 1;
  int subfiles = 0;
  std::string compression;
  std::optional<ht::io::NetcdfFormat> netcdf;
  ht::io::LoadCsvOptions csv;
  std::uint64_t memory = std::uint64_t{256} << 20;
  bool append = false, sparse = false, quiet = false;
};

bool ends_with_one_of(const std::string& path, std::initializer_list<const char*> endings) {
  return std::ranges::any_of(endings, [&](const char* ending) { return path.ends_with(ending); });
}

std::optional<ht::Dtype> dtype_of(const Options& o) {
  return o.dtype.empty() ? std::nullopt : std::optional(parse_dtype(o.dtype, op));
}
std::optional<ht::io::Compression> compression_of(const Options& o) {
  if (o.compression.empty()) return std::nullopt;
  const bool level = o.compression.find_first_not_of("0123456789") == std::string::npos;
  return ht::io::Compression(level ? "gzip:" + o.compression : o.compression);
}

/// A matrix goes through the memory of all ranks.
void convert_sparse(const Options& o) {
  if (o.files.size() != 2 || o.shards != 1 || !o.chunks.empty() || o.subfiles != 0 || o.netcdf)
    ht::detail::raise<ht::ValueError>(
        op, "got {} files, shards, chunks, subfiles or netcdf for a sparse matrix; expected one file and its new name",
        o.files.size());
  const auto a = ht::sparse::load(o.files[0], {.group = o.dataset, .dtype = dtype_of(o)});
  ht::sparse::save(a, o.files[1], {.group = o.name, .append = o.append, .compression = compression_of(o)});
  print(fmt::format("{}: {} sparse, {} entries of {}\n", o.files[1], shape_text(a.shape()), a.nnz(),
                    ht::name(a.dtype())));
}

/// Names of arrays in the new file: as before, where the format has names.
std::string name_of(const Options& o, const std::string& path) {
  const bool named = ends_with_one_of(path, {".h5", ".hdf5", ".nc", ".nc4", ".npz", ".safetensors"});
  return !o.name.empty() ? o.name : named ? o.dataset : "";
}

ht::io::ConvertOptions how(const Options& o) {
  ht::io::ConvertOptions options{.files = o.shards, .piece_bytes = static_cast<std::int64_t>(o.memory)};
  options.save = {.dataset = name_of(o, o.files.back()), .append = o.append, .compression = compression_of(o)};
  options.save.chunks = parse_shape(o.chunks, op);
  options.save.netcdf_format = o.netcdf;
  options.save.subfiles = o.subfiles;
  return options;
}

void convert_array(const Options& o) {
  const std::vector<std::string> from(o.files.begin(), o.files.end() - 1);
  const auto begin = std::chrono::steady_clock::now();
  const ht::io::StoredArray x(from, {.dataset = o.dataset, .dtype = dtype_of(o), .csv = o.csv});
  auto options = how(o);
  RowProgress progress(op, x.shape().empty() ? 0 : x.shape()[0], !o.quiet);
  options.written = [&](std::int64_t rows) { progress.add(rows); };
  const auto written = ht::io::convert(x, o.files.back(), options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const auto bytes = static_cast<double>(ht::size_of(x.shape())) * static_cast<double>(ht::itemsize(x.dtype()));
  const auto& file = written.front();
  const bool whole = !x.streams() || file.ends_with(".npz");
  print(fmt::format("{}{}: {} of {}, {} in {:.3g} s{}\n", file,
                    written.size() == 1 ? "" : fmt::format(" and {} more", written.size() - 1), shape_text(x.shape()),
                    ht::name(x.dtype()), bytes_text(bytes), seconds.count(),
                    whole ? fmt::format("; {} was held in memory as a whole", x.streams() ? ".npz" : ".csv") : ""));
}

void convert(const Options& o) {
  const bool matrix = std::ranges::any_of(o.files, [](const auto& file) {
    return ends_with_one_of(file, {".mtx", ".h5ad", ".petsc"});
  });
  (o.sparse || matrix ? convert_sparse : convert_array)(o);
}

}  // namespace

Run add_convert(CLI::App& command) {
  const auto o = std::make_shared<Options>();
  command
      .add_option("files", o->files,
                  "files of one array, put together along its first axis, or patterns in quotes; and the new file, "
                  "whose extension names the format: .h5 .zarr .nc .npy .npz .csv .safetensors")
      ->required()
      ->expected(2, 1 << 20);
  command.add_option("-d,--dataset", o->dataset, "which array of the files; without it the only one");
  command.add_option("--name", o->name, "of the array in the new file; else as before, or \"data\"");
  command.add_option("--chunks", o->chunks, "extents of chunks, as in 64,64,3 (HDF5, Zarr, netCDF); else as before");
  command.add_option("--shards", o->shards, "how many files; {rank} in the new name becomes their number")
      ->check(CLI::Range(1, 1000000));
  command.add_option("--subfiles", o->subfiles, "of HDF5 1.14: into how many files it deals the elements");
  command.add_option("--dtype", o->dtype, "of the new array, as in float32");
  command.add_option(
      "--compression", o->compression,
      "gzip level (HDF5, Zarr, netCDF; of sparse matrices .npz, HDF5), or zstd, zstd:9, lz4, blosc (HDF5, Zarr)");
  using ht::io::NetcdfFormat;
  const std::map<std::string, NetcdfFormat> formats{{"netcdf4", NetcdfFormat::netcdf4},
                                                    {"cdf5", NetcdfFormat::cdf5},
                                                    {"cdf2", NetcdfFormat::cdf2},
                                                    {"cdf1", NetcdfFormat::cdf1}};
  command.add_option("--netcdf", o->netcdf, "of .nc: netcdf4, or the classic cdf5, cdf2 or cdf1; else netcdf4")
      ->transform(CLI::CheckedTransformer(formats).description(""));
  command
      .add_option(
          "--memory", o->memory,
          "of all ranks together for elements at a time, as in 1GiB (else 256MiB); from .csv and to .npz all are held")
      ->transform(CLI::AsSizeValue(false));
  add_csv_options(command, o->csv);
  command.add_flag("--append", o->append, "add to the new file what it has not yet (HDF5, netCDF)");
  command.add_flag("--sparse", o->sparse,
                   "a sparse matrix: of .npz (scipy) or HDF5 (AnnData); .mtx, .h5ad and .petsc are always");
  command.add_flag("-q,--quiet", o->quiet, "without progress");
  command.footer(
      "Example: mpirun -n 4 heatpp convert 'run/part-*.h5' -d density density.zarr --chunks 64,64,64 --compression 4");
  return [o] { convert(*o); };
}

}  // namespace tools
