#include "detail/csv_options.hpp"
#include "detail/interruption.hpp"
#include "detail/matrix.hpp"
#include "detail/options.hpp"
#include "detail/row_progress.hpp"
#include "detail/text.hpp"
#include "tool.hpp"

#include <fmt/ranges.h>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/files/shard_names.hpp>
#include <heatpp_io/detail/options/fields.hpp>
#include <heatpp_io/stream/convert.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace tools {
namespace {

constexpr auto op = "convert";

struct Options {
  std::vector<std::string> files;
  std::string dataset, name, compression;
  std::optional<ht::Dtype> dtype;
  std::optional<std::int64_t> shards;
  ht::io::LoadCsvOptions csv;
  ht::io::SaveOptions save;
  std::uint64_t memory = std::uint64_t{256} << 20;
  bool sparse = false, quiet = false;
  std::string of_arrays;  ///< given options that do not apply to sparse matrices
};

bool ends_with_one_of(const std::string& path, std::initializer_list<const char*> endings) {
  return std::ranges::any_of(endings, [&](const char* ending) { return path.ends_with(ending); });
}

constexpr auto uncompressed = "none";

std::optional<ht::io::Compression> compression_of(const std::string& text) {
  if (text.empty() || text == uncompressed) return std::nullopt;
  const bool level = text.find_first_not_of("0123456789") == std::string::npos;
  return ht::io::Compression(level ? "gzip:" + text : text);
}

/// Returns the new name. A single shard gets its number; several shards get theirs when they are written.
std::string target_of(const Options& o) {
  const auto& target = o.files.back();
  if (target.find("{rank}") == std::string::npos || o.shards.value_or(1) > 1) return target;
  if (!o.shards)
    ht::detail::raise<ht::ValueError>(
        op, "got \"{}\" without --shards; expected how many files that is, or a name without {{rank}}", target);
  const std::string extension;  // extension of the name
  return ht::io::detail::shard_names(target, ht::world(), {op, extension, 1}).front();
}

/// Converts a matrix, which is held in the memory of all ranks.
void convert_sparse(const Options& o, const std::string& target) {
  if (o.files.size() != 2)
    ht::detail::raise<ht::ValueError>(op, "got {} names for a sparse matrix; expected one file and its new name",
                                      o.files.size());
  if (!o.of_arrays.empty())
    ht::detail::raise<ht::ValueError>(op, "got {} for a sparse matrix; expected no options that only arrays have",
                                      o.of_arrays);
  const auto a = ht::sparse::load(o.files[0], {.group = o.dataset, .dtype = o.dtype});
  ht::sparse::save(a, target, {.group = o.name, .append = o.save.append, .compression = compression_of(o.compression)});
  print(fmt::format("{}: {} sparse, {} entries of {}\n", target, shape_text(a.shape()), a.nnz(), ht::name(a.dtype())));
}

/// Returns the name of the array in the new file: the old one, if the format has names.
std::string name_of(const Options& o, const std::string& path) {
  const bool named = ends_with_one_of(path, {".h5", ".hdf5", ".nc", ".nc4", ".npz", ".safetensors", ".zarr"});
  return !o.name.empty() ? o.name : named ? o.dataset : "";
}

ht::io::ConvertOptions how(const Options& o) {
  ht::io::ConvertOptions options{.save = o.save,
                                 .compress_as_before = o.compression != uncompressed,
                                 .files = o.shards.value_or(1),
                                 .piece_bytes = static_cast<std::int64_t>(o.memory)};
  options.save.dataset = name_of(o, o.files.back());
  options.save.compression = compression_of(o.compression);
  return options;
}

std::string text_of(const ht::io::StoredArray& x, const std::vector<std::string>& written, double seconds) {
  const auto bytes = static_cast<double>(ht::size_of(x.shape())) * static_cast<double>(ht::itemsize(x.dtype()));
  const auto& file = written.front();
  const bool held = !x.streams() || file.ends_with(".npz");
  return fmt::format("{}{}: {} of {}, {} in {:.3g} s{}\n", file,
                     written.size() == 1 ? "" : fmt::format(" and {} more", written.size() - 1), shape_text(x.shape()),
                     ht::name(x.dtype()), bytes_text(bytes), seconds,
                     held ? fmt::format("; {} was held in memory as a whole", x.streams() ? ".npz" : ".csv") : "");
}

/// Throws if the new file replaces a file that is read, because its other arrays would be lost.
void check_keeps(const std::vector<std::string>& from, const std::string& target) {
  std::error_code none;
  for (const auto& file : ht::io::detail::expand(from, ht::world(), op))
    if (std::filesystem::equivalent(file, target, none) && ht::io::contents(file).size() > 1)
      ht::detail::raise<ht::ValueError>(
          op, "got \"{}\" to write an array to, which has others that are read; expected another name, or --append",
          target);
}

void convert_array(const Options& o, const std::string& target) {
  const std::vector<std::string> from(o.files.begin(), o.files.end() - 1);
  if (!o.save.append) check_keeps(from, target);
  const auto begin = std::chrono::steady_clock::now();
  const ht::io::StoredArray x(from, {.dataset = o.dataset, .dtype = o.dtype, .csv = o.csv});
  auto options = how(o);
  RowProgress progress(op, x.shape().empty() ? 0 : x.shape()[0], !o.quiet);
  std::optional<Interruption> interruption;
  if (!target.ends_with(".npz")) interruption.emplace();  // these are written as one piece
  options.written = [&](std::int64_t rows) {
    progress.add(rows);
    if (interruption) interruption->check(op);
  };
  const auto written = ht::io::convert(x, target, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  print(text_of(x, written, seconds.count()));
}

/// Prints what the new file cannot store; HEATPP_LOG sets where all messages of the library go.
void tell_warnings() {
  if (std::getenv("HEATPP_LOG")) return;
  ht::set_log([](ht::LogLevel, std::string_view message) { fmt::print(stderr, "{}\n", message); },
              {.level = ht::LogLevel::warning});
}

void convert(const Options& o) {
  tell_warnings();
  const bool matrix = ends_with_one_of(o.files.back(), {".mtx", ".h5ad", ".petsc"}) ||
                      (!o.files.front().ends_with(".npz") && holds_matrix(o.files.front(), o.dataset));
  (o.sparse || matrix ? convert_sparse : convert_array)(o, target_of(o));
}

}  // namespace

Run add_convert(CLI::App& command) {
  const auto o = std::make_shared<Options>();
  command
      .add_option("files", o->files,
                  "files of one array, joined along its first axis, or patterns in quotes; and the new file, "
                  "whose extension names the format: .h5 .zarr .nc .npy .npz .csv .safetensors")
      ->required()
      ->expected(2, 1 << 20);
  command.add_option("-d,--dataset", o->dataset,
                     "name of the array in the files; else the only one, in HDF5 the only one in its root");
  command.add_option("--name", o->name, "name of the array in the new file; else that of --dataset, or \"data\"");
  std::vector<CLI::Option*> of_arrays;
  const auto add = [&](CLI::Option* option) { of_arrays.push_back(option); };
  const auto shape = [](const std::string& text) { return parse_shape(text, op); };
  const auto dtype = [](const std::string& text) { return parse_dtype(text, op); };
  add(add_parsed(command, "--chunks", o->save.chunks, shape,
                 "extents of chunks, as in 64,64,3 (HDF5, Zarr, netCDF); else as before"));
  add(command.add_option("--shards", o->shards, "number of files; {rank} in the new name becomes the number of each")
          ->check(CLI::Range(1, 1000000)));
  add(command.add_option("--subfiles", o->save.subfiles, "HDF5 1.14: number of files that hold the elements"));
  add_parsed(command, "--dtype", o->dtype, dtype, "dtype of the new array, e.g. float32");
  check_by(command.add_option("--compression", o->compression,
                              "gzip level (HDF5, Zarr, netCDF, .npz), or zstd, zstd:9, lz4, blosc (HDF5, Zarr), or "
                              "none; else as before, in HDF5, Zarr, netCDF and .npz"),
           [](const std::string& text) { (void)compression_of(text); });
  add(add_choice(command, "--netcdf", o->save.netcdf_format,
                 ".nc: netcdf4, or the classic cdf5, cdf2 or cdf1; else netcdf4"));
  add(command.add_option("--zarr-format", o->save.zarr_format, ".zarr: 2 or 3; else 2")->check(CLI::Range(2, 3)));
  add(add_parsed(command, "--zarr-shards", o->save.zarr_shards, shape,
                 ".zarr in format 3: extents of shards, multiples of those of chunks"));
  add_size_option(command, "--memory", o->memory,
                  "for elements, all ranks together, e.g. 1GiB (else 256MiB); .csv and new .npz are held as a whole");
  add_csv_options(command, o->csv);
  command.add_flag("--append", o->save.append,
                   "keep the content of the new file and add the array (HDF5, netCDF, Zarr)");
  command.add_flag("--sparse", o->sparse,
                   "read a sparse matrix from .npz (scipy) or HDF5 (AnnData); .mtx, .h5ad and .petsc always are");
  command.add_flag("-q,--quiet", o->quiet, "show no progress");
  command.footer(
      "Example: mpirun -n 4 heatpp convert 'run/part-*.h5' -d density density.zarr --chunks 64,64,64 --compression 4");
  return [o, of_arrays] {
    o->of_arrays = given(of_arrays);
    convert(*o);
  };
}

}  // namespace tools
