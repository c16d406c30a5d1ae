#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;
using nlohmann::json;

/// What JSON has no numbers for is written as text.
double as_float(const json& value) {
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return value.get<double>();
}

/// Without a fraction, and in the range of the dtype; -1 for what only unsigned elements can be.
std::int64_t as_whole(const json& value, const ElementType& element, const std::string& path, const char* op) {
  if (value.is_boolean()) return value.get<bool>();
  const bool beyond = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  if (beyond && element.may_overflow) return -1;
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
      array.fill_real = as_float(value[0]);
      array.fill_imaginary = as_float(value[1]);
    } else {
      array.fill_real = as_float(value);
    }
  } else if (dtype >= float16) {
    array.fill_real = as_float(value);
  } else {
    array.fill_whole = as_whole(value, array.type.element, path, op);
  }
}

/// The codec of that name in Zarr; zlib and gzip are told apart by what begins a stream.
std::optional<Compression> compression_of(const std::string& name, const json& configuration, const std::string& path,
                                          const char* op) {
  for (const auto& [known, codec] : {std::pair{"zlib", Codec::gzip},
                                     {"gzip", Codec::gzip},
                                     {"zstd", Codec::zstd},
                                     {"lz4", Codec::lz4},
                                     {"blosc", Codec::blosc}}) {
    if (name != known && name != formatted("numcodecs.{}", known)) continue;
    if (!block_codec(codec))
      raise<IoError>(op, "got \"{}\" with chunks compressed by {}; expected {}", path, name, how_to_get(codec));
    Compression compression{name_of(codec)};
    compression.level = configuration.value("level", configuration.value("clevel", compression.level));
    return compression;
  }
  return std::nullopt;
}

/// What chunks of format 2 are compressed by.
std::optional<Compression> take_compressor(const json& value, const std::string& path, const char* op) {
  if (value.is_null()) return std::nullopt;
  const auto id = value.at("id").get<std::string>();
  const auto codec = compression_of(id, value, path, op);
  if (!codec)
    raise<IoError>(op, "got \"{}\" with chunks compressed by \"{}\"; expected none, zlib, gzip, zstd, lz4 or blosc",
                   path, id);
  return codec;
}

/// NumPy's name of a data type of format 3, without the byte order.
std::string numpy_name(const std::string& name) {
  const auto digits = name.find_first_of("0123456789");
  const auto kind = name.substr(0, digits);
  const auto bits = digits < name.size() ? name.substr(digits) : "";
  for (const auto& [known, code] : {std::pair{"int", 'i'}, {"uint", 'u'}, {"float", 'f'}, {"complex", 'c'}})
    if (kind == known && (bits == "8" || bits == "16" || bits == "32" || bits == "64" || bits == "128"))
      return code + std::to_string(std::stoi(bits) / 8);
  return name == "bool" ? "b1" : name;
}

/// What codecs make of the chunks: the byte order, and perhaps fewer bytes.
void take_codecs(const json& codecs, ZarrArray& array, std::string& type, const std::string& path, const char* op) {
  for (const auto& codec : codecs) {
    const auto name = codec.is_string() ? codec.get<std::string>() : codec.at("name").get<std::string>();
    const auto configuration = codec.is_object() ? codec.value("configuration", json::object()) : json::object();
    if (name == "bytes" && !array.compression && type.find_first_of("<>") == std::string::npos)
      type.insert(type.begin(), configuration.value("endian", std::string("little")) == "big" ? '>' : '<');
    else if (const auto compression = compression_of(name, configuration, path, op);
             compression && !array.compression && type.find_first_of("<>") != std::string::npos)
      array.compression = compression;
    else
      raise<IoError>(op, "got \"{}\" with the codec \"{}\" in {}; expected bytes, and perhaps gzip, zstd, lz4 or blosc",
                     path, name, codecs.dump());
  }
  if (type.find_first_of("<>") == std::string::npos)
    raise<IoError>(op, "got \"{}\" with codecs {}; expected bytes, and perhaps gzip, zstd, lz4 or blosc", path,
                   codecs.dump());
}

/// Throws where a reader that does not know a part must not read the array.
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

ZarrArray from_json_3(const json& all, const std::string& path, const char* op) {
  if (all.at("node_type") != "array")
    raise<IoError>(op, "got \"{}\", which is a {}; expected an array", path, all.at("node_type").dump());
  check_extensions(all, path, op);
  if (!all.at("data_type").is_string())
    raise<IoError>(op, "got \"{}\", which holds {}; expected numbers", path, all.at("data_type").dump());
  ZarrArray array;
  auto type = numpy_name(all.at("data_type").get<std::string>());
  take_codecs(all.at("codecs"), array, type, path, op);
  array.type = stored_type(type, formatted("\"{}\"", path), op);
  array.shape = all.at("shape").get<Shape>();
  if (all.at("chunk_grid").at("name") != "regular")
    raise<IoError>(op, "got \"{}\" with the chunk grid {}; expected a regular one", path, all["chunk_grid"].dump());
  array.chunks = all["chunk_grid"].at("configuration").at("chunk_shape").get<Shape>();
  const auto& keys = all.at("chunk_key_encoding");
  if (keys.at("name") != "default" && keys.at("name") != "v2")
    raise<IoError>(op, "got \"{}\" with the chunk key encoding {}; expected default or v2", path, keys.dump());
  array.prefixed = keys["name"] == "default";
  const auto separator =
      keys.value("configuration", json::object()).value("separator", std::string(array.prefixed ? "/" : "."));
  array.separator = separator == "/" ? '/' : '.';
  take_fill(all.at("fill_value"), array, path, op);
  return array;
}

ZarrArray from_json(const json& all, const std::string& path, const char* op) {
  if (all.at("zarr_format") == 3) return from_json_3(all, path, op);
  if (all.at("zarr_format") != 2)
    raise<IoError>(op, "got \"{}\" of Zarr format {}; expected 2 or 3", path, all.at("zarr_format").dump());
  if (!all.at("dtype").is_string())
    raise<IoError>(op, "got \"{}\", which holds records ({}); expected numbers", path, all.at("dtype").dump());
  if (all.contains("filters") && !all["filters"].empty())
    raise<IoError>(op, "got \"{}\" with filters {}; expected none", path, all["filters"].dump());
  ZarrArray array;
  array.type = stored_type(all.at("dtype").get<std::string>(), formatted("\"{}\"", path), op);
  array.shape = all.at("shape").get<Shape>();
  array.chunks = all.at("chunks").get<Shape>();
  array.fortran = all.at("order") == "F";
  array.compression = take_compressor(all.at("compressor"), path, op);
  array.gzip_file = array.compression && all["compressor"].at("id").get<std::string>().ends_with("gzip");
  array.separator = all.value("dimension_separator", std::string(".")) == "/" ? '/' : '.';
  take_fill(all.at("fill_value"), array, path, op);
  return array;
}

/// As numcodecs writes it.
json compressor_of(const std::optional<Compression>& compression) {
  if (!compression) return nullptr;
  const auto level = compression->level;
  switch (compression->codec) {
    case Codec::gzip: return {{"id", "zlib"}, {"level", level}};
    case Codec::zstd: return {{"id", "zstd"}, {"level", level}};
    case Codec::lz4: return {{"id", "lz4"}, {"acceleration", 1}};
    case Codec::blosc: return {{"id", "blosc"}, {"cname", "lz4"}, {"clevel", level}, {"shuffle", 1}, {"blocksize", 0}};
  }
  return nullptr;
}

/// With the numbers that only Python writes as texts, which Zarr has for them.
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
  const auto what = formatted("\"{}\"", path);
  checked_bytes(array.shape, array.type.bytes, what, op);
  checked_bytes(array.chunks, array.type.bytes, what, op);
  if (array.chunks.size() != array.shape.size() ||
      std::ranges::any_of(array.chunks, [](std::int64_t extent) { return extent < 1; }))
    raise<IoError>(op, "got \"{}\" with chunks of shape {} for shape {}; expected one positive extent for each axis",
                   path, to_string(array.chunks), to_string(array.shape));
  return array;
}

bool is_zarr_array(const std::string& text) {
  const auto all = json::parse(in_utf8(strict(text)), nullptr, /*allow_exceptions=*/false);
  return all.is_object() && all.contains("node_type") && all["node_type"] == "array";
}

std::string zarray_text(const NewZarray& array) {
  const json all{{"zarr_format", 2},
                 {"shape", array.shape},
                 {"chunks", array.chunks},
                 {"dtype", numpy_type(array.dtype)},
                 {"compressor", compressor_of(array.compression)},
                 {"fill_value", nullptr},  // no chunk is missing, and xarray takes a number for what is
                 {"order", "C"},
                 {"filters", nullptr}};
  return all.dump(4) + "\n";
}

std::string with_shape(const std::string& text, const Shape& shape) {
  auto all = json::parse(text);
  all["shape"] = shape;
  return all.dump(4) + "\n";
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
