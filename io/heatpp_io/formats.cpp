#include <heatpp_io/formats.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/csv/load_csv.hpp>
#include <heatpp_io/csv/save_csv.hpp>
#include <heatpp_io/detail/files/content.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/files/format_of.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/options/fields.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/detail/shards/read.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>
#include <heatpp_io/numpy/load_npy.hpp>
#include <heatpp_io/numpy/npz.hpp>
#include <heatpp_io/numpy/save_npy.hpp>
#include <heatpp_io/safetensors/safetensors.hpp>
#include <heatpp_io/stream/detail/growth.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>
#include <heatpp_io/vtkhdf/save_vtkhdf.hpp>
#include <heatpp_io/zarr/zarr.hpp>

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <string_view>

namespace heatpp::io {
namespace {

using Path = std::filesystem::path;

DNDarray load_h5(const Source& source, const LoadOptions& options) {
  return load_hdf5(source, options.dataset, options);
}
void save_h5(const DNDarray& x, const Path& path, const SaveOptions& options) {
  save_hdf5(x, path, detail::dataset_or_data(options), options);
}

/// The option that most formats have; the others call check_no_uint64.
constexpr std::string_view uint64_option = "uint64";

/// Throws for given options, except those that the format has.
void check_has(const std::string& format, const SaveOptions& options, const std::vector<std::string_view>& has) {
  auto wrong = heatpp::detail::fields_given(options);
  std::erase_if(wrong,
                [&](const auto& name) { return name == uint64_option || std::ranges::find(has, name) != has.end(); });
  if (!wrong.empty())
    heatpp::detail::raise<ValueError>(
        "save", "got {} for {}; expected {}", fmt::join(wrong, " and "), format,
        has.empty() ? "none" : heatpp::detail::formatted("only {}", fmt::join(has, ", ")));
}

void check_no_uint64(const char* format, const SaveOptions& options) {
  if (options.uint64)
    heatpp::detail::raise<ValueError>(
        "save", "got uint64 for {}; expected a format that has it: .h5, .zarr, .nc, .npy, .npz or .safetensors",
        format);
}

void save_to_npy(const DNDarray& x, const Path& path, const SaveOptions& options) {
  check_has(".npy", options, {"shards"});
  save_npy(x, path, {.shards = options.shards, .uint64 = options.uint64});
}
void rows_to_npy(const RowsToSave& x, const Path& path, const SaveOptions& options) {
  check_has(".npy", options, {});
  detail::save_rows_npy(x, path, options.uint64);
}
DNDarray load_from_npz(const Source& source, const LoadOptions& options) {
  return load_npz(source, options.dataset, options);
}
void save_to_npz(const DNDarray& x, const Path& path, const SaveOptions& options) {
  check_has(".npz", options, {"dataset", "compression"});
  save_npz({{options.dataset.empty() ? "arr_0" : options.dataset, x}}, path,
           {.compression = detail::gzip_level(options.compression, "save"), .uint64 = options.uint64});
}

DNDarray load_from_safetensors(const Source& source, const LoadOptions& options) {
  return load_safetensors(source, options.dataset, options);
}
void save_to_safetensors(const DNDarray& x, const Path& path, const SaveOptions& options) {
  check_has(".safetensors", options, {"dataset"});
  save_safetensors({{detail::dataset_or_data(options), x}}, path, {.uint64 = options.uint64});
}
void rows_to_safetensors(const RowsToSave& x, const Path& path, const SaveOptions& options) {
  check_has(".safetensors", options, {"dataset"});
  detail::save_rows_safetensors(x, path, options);
}

DNDarray load_from_csv(const Source& source, const LoadOptions& options) {
  LoadCsvOptions csv{.dtype = options.dtype.value_or(get_default_dtype())};
  heatpp::detail::copy_fields(options, csv);
  return detail::load_csv(source, csv, [&] {
    detail::check_no_dataset("load", options);
    if (!options.slices.empty())
      heatpp::detail::raise<ValueError>("load", "got {} slices for .csv; expected none", options.slices.size());
    detail::check_no_records("load", options);
  });
}
void save_to_csv(const DNDarray& x, const Path& path, const SaveOptions& options) {
  check_has(".csv", options, {});
  check_no_uint64(".csv", options);
  save_csv(x, path);
}
void rows_to_csv(const RowsToSave& x, const Path& path, const SaveOptions& options) {
  check_has(".csv", options, {});
  check_no_uint64(".csv", options);
  detail::save_rows_csv(x, path);
}

void check_netcdf(const Path& path, const SaveOptions& options) {
  check_has(path.extension().string(), options,
            {"append", "chunks", "compression", "netcdf_format", "dataset", "dimension_names", "attributes"});
}
DNDarray load_from_netcdf(const Source& source, const LoadOptions& options) {
  return load_netcdf(source, options.dataset, options);
}
void save_to_netcdf(const DNDarray& x, const Path& path, const SaveOptions& options) {
  check_netcdf(path, options);
  save_netcdf(x, path, detail::dataset_or_data(options), detail::netcdf_options(options, "save"));
}
void rows_to_netcdf(const RowsToSave& x, const Path& path, const SaveOptions& options) {
  check_netcdf(path, options);
  detail::save_rows_netcdf(x, path, options);
}

void check_zarr(const SaveOptions& options) {
  check_has(
      ".zarr", options,
      {"append", "chunks", "compression", "dataset", "dimension_names", "attributes", "zarr_format", "zarr_shards"});
}
void rows_to_zarr(const RowsToSave& x, const Path& path, const SaveOptions& options) {
  check_zarr(options);
  detail::save_rows_zarr(x, path, options);
}
void rows_behind_zarr(const DNDarray& x, const Path& path, const SaveOptions& options) {
  check_zarr(options);
  detail::append_rows_zarr(x, path, options);
}
DNDarray load_from_zarr(const Source& source, const LoadOptions& options) {
  return load_zarr(source, options.dataset, options);
}
void save_to_zarr(const DNDarray& x, const Path& path, const SaveOptions& options) {
  check_zarr(options);
  save_zarr(x, path, detail::zarr_options(options));
}

void save_to_vtkhdf(const DNDarray& x, const Path& path, const SaveOptions& options) {
  check_no_uint64(".vtkhdf", options);
  check_has(".vtkhdf", options, {"dataset", "compression"});
  save_vtkhdf(x, path, {.name = options.dataset, .compression = detail::gzip_level(options.compression, "save")});
}

/// All formats of the library. A new format adds one line here.
constexpr std::array formats{
    detail::Format{".h5", load_h5, save_h5, detail::hdf5_names, detail::open_hdf5, detail::save_rows_hdf5, true,
                   detail::append_rows_hdf5, detail::hdf5_annotations, &detail::hdf5_rules},
    detail::Format{".hdf5", load_h5, save_h5, detail::hdf5_names, detail::open_hdf5, detail::save_rows_hdf5, true,
                   detail::append_rows_hdf5, detail::hdf5_annotations, &detail::hdf5_rules},
    detail::Format{".npy", load_npy, save_to_npy, detail::npy_names, detail::open_npy, rows_to_npy},
    detail::Format{".csv", load_from_csv, save_to_csv, nullptr, nullptr, rows_to_csv},
    detail::Format{".nc", load_from_netcdf, save_to_netcdf, detail::netcdf_names, detail::open_netcdf, rows_to_netcdf,
                   true, nullptr, detail::netcdf_annotations, &detail::netcdf_rules},
    detail::Format{".nc4", load_from_netcdf, save_to_netcdf, detail::netcdf_names, detail::open_netcdf, rows_to_netcdf,
                   true, nullptr, detail::netcdf_annotations, &detail::netcdf_rules},
    detail::Format{".npz", load_from_npz, save_to_npz, detail::npz_names, detail::open_npz, nullptr},
    detail::Format{".safetensors", load_from_safetensors, save_to_safetensors, detail::safetensors_names,
                   detail::open_safetensors, rows_to_safetensors},
    detail::Format{".zarr", load_from_zarr, save_to_zarr, detail::zarr_names, detail::open_zarr, rows_to_zarr, true,
                   rows_behind_zarr, detail::zarr_annotations, &detail::zarr_rules},
    detail::Format{".vtkhdf", load_h5, save_to_vtkhdf, detail::hdf5_names, detail::open_hdf5, nullptr, false, nullptr,
                   detail::hdf5_annotations},
};

}  // namespace

const detail::Format& detail::format_of(const Path& path, const char* op) { return format_of(formats, path, op); }

const detail::Format& detail::format_to_read(const Source& source, const Communicator& comm, const char* op) {
  const auto shown = source.names().empty() ? std::string() : source.names().front();
  const auto ending = ending_of(source, comm, op);
  if (ending.starts_with(".mtx"))
    heatpp::detail::raise<ValueError>(
        op, "got \"{}\", a matrix in the Matrix Market format; expected sparse::load for it", shown);
  return format_by(formats, ending, shown, op);
}

detail::FoundShards detail::find_shards(const Format& format, const Source& source, const WantedArray& wanted,
                                        const Communicator& comm, const char* op) {
  // A directory stands for its files. But Zarr arrays are directories, and HDF5 files need a pattern, as in load.
  const auto& end = format.extension;
  const std::string in_directories(end == ".zarr" || end == ".h5" || end == ".hdf5" ? "" : end);
  auto open = opener(format.open, wanted.dataset, wanted.numbers, op);
  const auto describe = [&](const std::string& path) { return open(path).info; };
  auto shards = inspect({expand(source, comm, op, in_directories), wanted.dataset}, describe, comm, op);
  return {std::move(shards), std::move(open)};
}

SaveNetcdfOptions detail::netcdf_options(const SaveOptions& options, const char* op) {
  SaveNetcdfOptions netcdf{.compression = gzip_level(options.compression, op),
                           .shuffle = options.compression && options.compression->shuffle.value_or(false),
                           .format = options.netcdf_format};
  heatpp::detail::copy_fields(options, netcdf);
  return netcdf;
}

SaveZarrOptions detail::zarr_options(const SaveOptions& options) {
  SaveZarrOptions zarr{.format = options.zarr_format, .shards = options.zarr_shards};
  heatpp::detail::copy_fields(options, zarr);
  return zarr;
}

DNDarray load(const Source& source, const LoadOptions& options) {
  // Rank 0 chooses the format for all ranks; its function then compares the source and the options.
  return detail::format_to_read(source, comm_of(options.comm), "load").load(source, options);
}

void save(const DNDarray& x, const Path& path, const SaveOptions& options) {
  heatpp::detail::check_agreed("save", x.comm(), detail::settings_of(path, options),
                               [&] { static_cast<void>(detail::format_of(path, "save")); });
  detail::format_of(path, "save").save(x, path, options);
}

}  // namespace heatpp::io
