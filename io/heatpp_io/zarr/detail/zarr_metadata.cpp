#include <heatpp_io/zarr/detail/zarr_metadata.hpp>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/zarr/detail/zarr_codecs.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;
using nlohmann::json;

/// Returns the number with the bits of a text "0x...", as wide as the dtype; nothing for other texts.
std::optional<double> with_bits(const std::string& text, Dtype dtype) {
  std::uint64_t bits = 0;
  const auto* const end = text.data() + text.size();
  if (!text.starts_with("0x") || std::from_chars(text.data() + 2, end, bits, 16).ptr != end) return std::nullopt;
  const auto as = [&]<class T>(T number) {
    std::memcpy(&number, &bits, sizeof number);
    return static_cast<double>(number);
  };
  if (dtype == float16) return as(c10::Half());
  if (dtype == bfloat16) return as(c10::BFloat16());
  return dtype == float32 || dtype == complex64 ? as(float{}) : as(double{});
}

/// JSON has no numbers for NaN and infinity, which are written as texts.
double as_float(const json& value, Dtype dtype) {
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (value.is_string())
    if (const auto number = with_bits(value.get<std::string>(), dtype)) return *number;
  return value.get<double>();
}

/// Returns a whole number in the range of the dtype. A number that only unsigned elements can have keeps its bits.
std::int64_t as_whole(const json& value, const ElementType& element, const std::string& path, const char* op) {
  if (value.is_boolean()) return value.get<bool>();
  const bool beyond = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  if (beyond && element.may_overflow) return static_cast<std::int64_t>(value.get<std::uint64_t>());
  const bool exact = value.is_number_integer() && !beyond;
  const Scalar number = exact ? Scalar(value.get<std::int64_t>()) : Scalar(value.get<double>());
  const auto rounded = std::trunc(number.to<double>());
  if (rounded != number.to<double>() || !heatpp::detail::is_in_range(number, element.dtype))
    raise<IoError>(op, "got \"{}\" with fill value {} for elements of {}; expected one of them", path, value.dump(),
                   name(element.dtype));
  return number.to<std::int64_t>();
}

void take_fill(const json& value, ZarrArray& array, const std::string& path, const char* op) {
  const auto dtype = array.type.element.dtype;
  if (value.is_null()) return;
  if (dtype == complex64 || dtype == complex128) {
    if (value.is_array() && value.size() == 2) {
      array.fill_real = as_float(value[0], dtype);
      array.fill_imaginary = as_float(value[1], dtype);
    } else {
      array.fill_real = as_float(value, dtype);
    }
  } else if (dtype >= float16) {
    array.fill_real = as_float(value, dtype);
  } else {
    array.fill_whole = as_whole(value, array.type.element, path, op);
  }
}

/// Throws if the array has a part without which a reader must not read it.
void check_extensions(const json& all, const std::string& path, const char* op) {
  constexpr std::string_view known[] = {"zarr_format",         "node_type",  "shape",  "data_type",  "chunk_grid",
                                        "chunk_key_encoding",  "fill_value", "codecs", "attributes", "dimension_names",
                                        "storage_transformers"};
  for (const auto& [key, value] : all.items()) {
    const bool optional = value.is_object() && value.value("must_understand", true) == false;
    const bool unknown = std::ranges::find(known, key) == std::end(known) && !optional;
    if (unknown || (key == "storage_transformers" && !value.empty()))
      raise<IoError>(op, "got \"{}\" with {}: {}; expected none", path, key, value.dump());
  }
}

/// Returns a number of indices, or of chunks, along an axis of `count` indices.
std::int64_t checked_extent(const json& extent, std::int64_t count, const std::string& path, const char* op) {
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - count);
  if (!extent.is_number_unsigned() || extent.get<std::uint64_t>() < 1 || extent.get<std::uint64_t>() > most)
    raise<IoError>(op, "got \"{}\" with chunks of {} along an axis of {}; expected whole numbers from 1 to {}", path,
                   extent.dump(), count, most);
  return extent.get<std::int64_t>();
}

/// Reads the chunks along an axis of `count` indices: their extent, or a list of extents and of [extent, count].
std::vector<ChunkRun> runs_of(const json& extents, std::int64_t count, const std::string& path, const char* op) {
  if (extents.is_number()) return {{.extent = checked_extent(extents, count, path, op)}};
  std::vector<ChunkRun> runs;
  ChunkRun next;
  for (const auto& run : extents) {
    const bool pair = run.is_array() && run.size() == 2;
    next.extent = checked_extent(pair ? run[0] : run, count, path, op);
    const auto left = std::max<std::int64_t>(0, count - next.begin);  // indices, and chunks with some of them
    const auto chunks = left / next.extent + (left % next.extent != 0 ? 1 : 0);
    next.count = std::min(pair ? checked_extent(run[1], count, path, op) : 1, chunks);
    if (!runs.empty() && runs.back().extent == next.extent) runs.back().count += next.count;
    else if (next.count > 0) runs.push_back(next);
    next.place += next.count;
    next.begin += next.count * next.extent;
  }
  if (next.begin < count)
    raise<IoError>(op, "got \"{}\" with chunks of {} indices along an axis of {}; expected chunks for all of them",
                   path, next.begin, count);
  if (runs.empty()) runs.emplace_back();  // without elements
  return runs;
}

void take_grid(const json& grid, ZarrArray& array, const std::string& path, const char* op) {
  const auto& configuration = grid.at("configuration");
  if (grid.at("name") == "regular") {
    array.chunks = configuration.at("chunk_shape").get<Shape>();
    return;
  }
  if (grid["name"] != "rectilinear" || configuration.value("kind", json("inline")) != "inline")
    raise<IoError>(op, "got \"{}\" with the chunk grid {}; expected a regular or rectilinear one", path, grid.dump());
  const auto& axes = configuration.at("chunk_shapes");
  for (std::size_t i = 0; i < std::min(axes.size(), array.shape.size()); ++i) {
    array.grid.push_back(runs_of(axes[i], array.shape[i], path, op));
    array.chunks.push_back(std::ranges::max(array.grid.back(), {}, &ChunkRun::extent).extent);
  }
}

/// Reads the names of chunks, which in v2 do not have the "c" of the default.
void take_keys(const json& keys, ZarrArray& array, const std::string& path, const char* op) {
  const auto name = keys.is_string() ? keys : keys.at("name");
  if (name != "default" && name != "v2")
    raise<IoError>(op, "got \"{}\" with the chunk key encoding {}; expected default or v2", path, keys.dump());
  array.prefixed = name == "default";
  const auto configuration = keys.is_object() ? keys.value("configuration", json::object()) : json::object();
  array.separator = configuration.value("separator", array.prefixed ? "/" : ".") == "/" ? '/' : '.';
}

/// Checks the extents that are used before the rest is known.
void check_extents(const ZarrArray& array, const std::string& path, const char* op) {
  const auto what = formatted("\"{}\"", path);
  checked_bytes(array.shape, array.type.bytes, what, op);
  checked_bytes(array.chunks, array.type.bytes, what, op);
  if (array.chunks.size() != array.shape.size() ||
      std::ranges::any_of(array.chunks, [](std::int64_t extent) { return extent < 1; }))
    raise<IoError>(op, "got \"{}\" with chunks of shape {} for shape {}; expected one positive extent for each axis",
                   path, to_string(array.chunks), to_string(array.shape));
}

ZarrArray from_json_3(const json& all, const std::string& path, const char* op) {
  if (all.at("node_type") != "array")
    raise<IoError>(op, "got \"{}\", which is a {}; expected an array", path, all.at("node_type").dump());
  check_extensions(all, path, op);
  if (!all.at("data_type").is_string())
    raise<IoError>(op, "got \"{}\", which holds {}; expected numbers", path, all.at("data_type").dump());
  ZarrArray array;
  const auto type = numpy_name(all.at("data_type").get<std::string>());
  array.type = stored_type(type, formatted("\"{}\"", path), op);
  array.shape = all.at("shape").get<Shape>();
  checked_bytes(array.shape, array.type.bytes, formatted("\"{}\"", path), op);
  take_grid(all.at("chunk_grid"), array, path, op);
  check_extents(array, path, op);
  array.codecs = codecs_of_format_3(all.at("codecs"), {type, array.chunks, {path, op}});
  take_keys(all.at("chunk_key_encoding"), array, path, op);
  take_fill(all.at("fill_value"), array, path, op);
  return array;
}

ZarrArray from_json(const json& all, const std::string& path, const char* op) {
  if (all.at("zarr_format") == 3) return from_json_3(all, path, op);
  if (all.at("zarr_format") != 2)
    raise<IoError>(op, "got \"{}\" of Zarr format {}; expected 2 or 3", path, all.at("zarr_format").dump());
  if (!all.at("dtype").is_string())
    raise<IoError>(op, "got \"{}\", which holds records ({}); expected numbers", path, all.at("dtype").dump());
  ZarrArray array;
  auto type = all.at("dtype").get<std::string>();
  if (type == "bfloat16") type = "<V2";  // TensorStore's name
  array.type = stored_type(type, formatted("\"{}\"", path), op);
  array.shape = all.at("shape").get<Shape>();
  array.chunks = all.at("chunks").get<Shape>();
  check_extents(array, path, op);
  array.codecs = codecs_of_format_2(all, {type, array.chunks, {path, op}});
  array.separator = all.value("dimension_separator", std::string(".")) == "/" ? '/' : '.';
  take_fill(all.at("fill_value"), array, path, op);
  return array;
}

/// Replaces numbers that only Python writes as such by the texts that Zarr has for them.
std::string strict(const std::string& text) {
  std::string result;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto rest = std::string_view(text).substr(i);
    const auto number = quoted                          ? ""
                        : rest.starts_with("NaN")       ? "NaN"
                        : rest.starts_with("-Infinity") ? "-Infinity"
                        : rest.starts_with("Infinity")  ? "Infinity"
                                                        : "";
    if (*number != '\0') {
      result += formatted("\"{}\"", number);
      i += std::string_view(number).size() - 1;
      continue;
    }
    if (quoted && text[i] == '\\' && i + 1 < text.size()) result.push_back(text[i++]);
    else if (text[i] == '"') quoted = !quoted;
    result.push_back(text[i]);
  }
  return result;
}

}  // namespace

json parse_json(const std::string& text, const std::string& path, const char* op) {
  constexpr int most_levels = 100;
  const auto level = [](int depth, json::parse_event_t, json&) { return depth <= most_levels; };
  std::string problem = "no object of JSON";
  try {
    auto all = json::parse(in_utf8(strict(text)), level);
    if (all.is_object()) return all;
  } catch (const json::exception& error) {
    problem = error.what();
  }
  raise<IoError>(op, "got \"{}\", which cannot be understood ({}); expected the metadata of a Zarr array", path,
                 problem);
}

ZarrArray parse_zarray(const std::string& text, const std::string& path, const char* op) {
  ZarrArray array;
  try {
    array = from_json(parse_json(text, path, op), path, op);
  } catch (const json::exception& error) {
    raise<IoError>(op, "got \"{}\", which cannot be understood ({}); expected the metadata of a Zarr array", path,
                   error.what());
  }
  if (array.grid.empty()) array.grid = regular_grid(array.chunks);
  return array;
}

bool is_zarr_array(const std::string& text) {
  const auto all = json::parse(in_utf8(strict(text)), nullptr, /*allow_exceptions=*/false);
  return all.is_object() && all.contains("node_type") && all["node_type"] == "array";
}

std::string chunk_name(const Shape& place, char separator, bool prefixed) {
  if (place.empty()) return prefixed ? "c" : "0";
  std::string name(prefixed ? 1 : 0, 'c');
  for (const auto index : place) {
    if (!name.empty()) name.push_back(separator);
    name += std::to_string(index);
  }
  return name;
}

}  // namespace heatpp::io::detail
