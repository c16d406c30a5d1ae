#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/zarr_metadata.hpp>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;
using nlohmann::json;

/// What JSON has no numbers for is written as text.
double as_float(const json& value) {
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return value.get<double>();
}

void take_fill(const json& value, ZarrArray& array) {
  const auto dtype = array.type.element.dtype;
  if (value.is_null()) return;
  if (dtype == complex64 || dtype == complex128) {
    if (value.is_array() && value.size() == 2) {
      array.fill_real = as_float(value[0]);
      array.fill_imaginary = as_float(value[1]);
    } else {
      array.fill_real = as_float(value);
    }
  } else if (dtype >= float16) {
    array.fill_real = as_float(value);
  } else {
    array.fill_whole = value.is_boolean() ? static_cast<std::int64_t>(value.get<bool>()) : value.get<std::int64_t>();
  }
}

/// Whether chunks are compressed, in a way that is supported.
bool take_compressor(const json& value, const std::string& path, const char* op) {
  if (value.is_null()) return false;
  const auto id = value.at("id").get<std::string>();
  if (id != "zlib" && id != "gzip")
    raise<IoError>(op, "got \"{}\" with chunks compressed by \"{}\"; expected none, zlib or gzip", path, id);
  return true;
}

ZarrArray from_json(const json& all, const std::string& path, const char* op) {
  if (all.at("zarr_format") != 2)
    raise<IoError>(op, "got \"{}\" of Zarr format {}; expected 2", path, all.at("zarr_format").dump());
  if (!all.at("dtype").is_string())
    raise<IoError>(op, "got \"{}\", which holds records ({}); expected numbers", path, all.at("dtype").dump());
  if (all.contains("filters") && !all["filters"].empty())
    raise<IoError>(op, "got \"{}\" with filters {}; expected none", path, all["filters"].dump());
  ZarrArray array;
  array.type = stored_type(all.at("dtype").get<std::string>(), fmt::format("\"{}\"", path), op);
  array.shape = all.at("shape").get<Shape>();
  array.chunks = all.at("chunks").get<Shape>();
  array.fortran = all.at("order") == "F";
  array.compressed = take_compressor(all.at("compressor"), path, op);
  array.separator = all.value("dimension_separator", std::string(".")) == "/" ? '/' : '.';
  take_fill(all.at("fill_value"), array);
  return array;
}

json empty_fill(Dtype dtype) {
  if (dtype == bool_) return false;
  if (dtype == complex64 || dtype == complex128) return json::array({0.0, 0.0});
  if (dtype == bfloat16) return nullptr;
  if (dtype >= float16) return 0.0;
  return 0;
}

}  // namespace

ZarrArray parse_zarray(const std::string& text, const std::string& path, const char* op) {
  ZarrArray array;
  try {
    array = from_json(json::parse(text), path, op);
  } catch (const json::exception& error) {
    raise<IoError>(op, "got \"{}\", which cannot be understood ({}); expected the metadata of a Zarr array", path,
                   error.what());
  }
  const auto what = fmt::format("\"{}\"", path);
  checked_bytes(array.shape, array.type.bytes, what, op);
  checked_bytes(array.chunks, array.type.bytes, what, op);
  if (array.chunks.size() != array.shape.size() ||
      std::ranges::any_of(array.chunks, [](std::int64_t extent) { return extent < 1; }))
    raise<IoError>(op, "got \"{}\" with chunks of shape {} for shape {}; expected one positive extent for each axis",
                   path, to_string(array.chunks), to_string(array.shape));
  return array;
}

std::string zarray_text(const NewZarray& array) {
  const json all{{"zarr_format", 2},
                 {"shape", array.shape},
                 {"chunks", array.chunks},
                 {"dtype", numpy_type(array.dtype)},
                 {"compressor", array.level ? json{{"id", "zlib"}, {"level", *array.level}} : json()},
                 {"fill_value", empty_fill(array.dtype)},
                 {"order", "C"},
                 {"filters", nullptr}};
  return all.dump(4) + "\n";
}

std::string chunk_name(const Shape& place, char separator) {
  if (place.empty()) return "0";
  std::string name;
  for (const auto index : place) {
    if (!name.empty()) name.push_back(separator);
    name += std::to_string(index);
  }
  return name;
}

}  // namespace heatpp::io::detail
