#include <heatpp_io/stream/convert.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/layout.hpp>
#include <heatpp_io/detail/elements/attribute_rules.hpp>
#include <heatpp_io/detail/files/shard_names.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/formats.hpp>

#include <algorithm>

namespace heatpp::io {
namespace {

using heatpp::detail::raise;

constexpr auto op = "convert";

std::vector<std::string> names_of(const StoredArray& x, const std::string& path, const ConvertOptions& options) {
  if (options.files < 1) raise<ValueError>(op, "got {} files; expected 1 or more", options.files);
  if (options.save.shards) raise<ValueError>(op, "got shards, which are one file for each rank; expected files");
  if (options.files == 1) return {path};
  if (x.shape().empty())
    raise<ValueError>(op, "got an array without axes; expected rows to put in {} files", options.files);
  const std::string extension;  // extension of files; a directory has none
  if (path.find("{rank}") == std::string::npos)
    raise<ValueError>(op, "got \"{}\" for {} files; expected a name with \"{{rank}}\" in it", path, options.files);
  return detail::shard_names(path, x.comm(), {op, extension, options.files});
}

/// Returns options with the old names of dimensions and attributes, unless others are given or the format has no room.
SaveOptions annotated(const StoredArray& x, const ConvertOptions& options, const detail::Format& format) {
  auto save = options.save;
  if (!format.rules) return save;
  auto carried = detail::annotations_of(x.info());
  for (const auto& [name, value] : save.attributes) carried.attributes.erase(name);
  if (!save.dimension_names.empty()) carried.dimension_names.clear();
  carried = detail::allowed(op, carried, x.shape(), *format.rules,
                            {x.dtype(), save.netcdf_format.value_or(NetcdfFormat::netcdf4)});
  save.attributes.merge(carried.attributes);
  if (save.dimension_names.empty()) save.dimension_names = carried.dimension_names;
  // netCDF, and so xarray, reads HDF5's enumeration of bool as int8 if this attribute is missing.
  if (format.rules == &detail::hdf5_rules && x.dtype() == bool_) save.attributes.emplace("dtype", "bool");
  return save;
}

bool is_classic(const SaveOptions& save) {
  return save.netcdf_format.value_or(NetcdfFormat::netcdf4) != NetcdfFormat::netcdf4;
}

bool holds_uint64(const detail::Format& format, const SaveOptions& save) {
  const auto netcdf = save.netcdf_format.value_or(NetcdfFormat::netcdf4);
  return format.extension != ".csv" && format.extension != ".vtkhdf" &&
         (netcdf == NetcdfFormat::netcdf4 || netcdf == NetcdfFormat::cdf5);
}

/// Returns the old compression, or the nearest one that the format has, unless another one is given.
std::optional<Compression> compression_of(const StoredArray& x, const ConvertOptions& options,
                                          const detail::Format& format) {
  auto old = x.info().compression;
  const bool has_any = (format.chunks && !is_classic(options.save)) || format.extension == ".npz";
  if (options.save.compression || !old || !options.compress_as_before || !has_any || x.shape().empty())
    return options.save.compression;
  if (format.rules == &detail::hdf5_rules) return old;
  if (format.rules == &detail::zarr_rules) {
    old->shuffle.reset();
    return old;
  }
  if (old->codec == Codec::gzip) return old;
  Compression gzip("gzip");
  gzip.shuffle = old->shuffle.value_or(old->codec == Codec::blosc);
  return gzip;
}

/// Returns options with the old chunks, unless others are given.
SaveOptions how_to_save(const StoredArray& x, const ConvertOptions& options, const detail::Format& format,
                        const Shape& shape) {
  auto save = options.save;
  if (!save.chunks.empty() || !format.chunks || is_classic(save) || size_of(shape) == 0) return save;
  save.chunks = x.info().chunks;
  for (std::size_t axis = 0; axis < save.chunks.size(); ++axis)
    save.chunks[axis] = std::min(save.chunks[axis], shape[axis]);
  return save;
}

/// Writes rows first ... first + count - 1 to one file.
void write_part(const StoredArray& x, const std::string& path, const ConvertOptions& options, const Layout& parts,
                int part) {
  const auto first = parts.offset(part), count = parts.count(part);
  const auto done = [&](std::int64_t rows) {
    if (options.written) options.written(rows);
  };
  const std::filesystem::path target(path);
  const auto& format = detail::format_of(target, op);
  if (!format.save_rows) {
    save(x.rows(first, count), path, options.save);
    return done(count);
  }
  RowsToSave rows{.shape = x.shape(), .dtype = x.dtype(), .comm = x.comm()};
  rows.shape[0] = count;
  rows.piece_rows = x.rows_of_bytes(options.piece_bytes);
  rows.unit_rows = x.info().chunks.empty() ? 1 : x.info().chunks[0];
  rows.rows = [&](std::int64_t begin, std::int64_t n) {
    auto piece = x.rows(first + begin, n);
    done(n);
    return piece;
  };
  save_rows(rows, path, how_to_save(x, options, format, rows.shape));
}

}  // namespace

std::vector<std::string> convert(const StoredArray& array, const std::string& path, const ConvertOptions& given) {
  const auto names = names_of(array, path, given);
  const std::filesystem::path file = path;
  const auto& format = detail::format_of(file, op);
  const bool bits = array.info().uint64 && holds_uint64(format, given.save);
  // Attributes decode its numbers.
  const auto x = bits || (format.rules && !array.info().uint64) ? array.stored() : array;
  auto options = given;
  options.save = annotated(x, given, format);
  options.save.compression = compression_of(x, given, format);
  options.save.uint64 = options.save.uint64 || bits;
  if (x.shape().empty()) {
    save(x.all(), path, options.save);
    return names;
  }
  const Layout parts(x.shape(), 0, static_cast<int>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) write_part(x, names[i], options, parts, static_cast<int>(i));
  return names;
}

}  // namespace heatpp::io
