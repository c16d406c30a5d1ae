#include <heatpp_io/zarr/detail/zarr_group.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp_io/detail/elements/numpy_type.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/zarr/detail/zarr_attributes.hpp>
#include <heatpp_io/zarr/detail/zarr_codecs.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json named(const char* name, json configuration) {
  return {{"name", name}, {"configuration", std::move(configuration)}};
}

/// Returns the codecs of chunks; with shards, those of the chunks in them.
json codecs_of(const NewZarray& array) {
  const auto bytes = named("bytes", {{"endian", "little"}});
  auto codecs = json::array({bytes});
  if (array.compression)
    codecs.push_back(codec_of(*array.compression, static_cast<std::int64_t>(itemsize(array.dtype))));
  if (array.shards.empty()) return codecs;
  return json::array({named("sharding_indexed", {{"chunk_shape", array.chunks},
                                                 {"codecs", codecs},
                                                 {"index_codecs", json::array({bytes, {{"name", "crc32c"}}})},
                                                 {"index_location", "end"}})});
}

/// Returns a number of the dtype, which format 3 requires for missing chunks; no chunk is missing.
json fill_of(Dtype dtype) {
  if (dtype == bool_) return false;
  if (is_complex(dtype)) return {0.0, 0.0};
  return dtype >= float16 ? json(0.0) : json(0);
}

json array_of_format_3(const NewZarray& array, const json& names, const json& attributes) {
  return {{"zarr_format", 3},
          {"node_type", "array"},
          {"shape", array.shape},
          {"data_type", array.uint64           ? "uint64"
                        : array.dtype == bool_ ? "bool"
                                               : heatpp::name(array.dtype)},
          {"chunk_grid", named("regular", {{"chunk_shape", array.shards.empty() ? array.chunks : array.shards}})},
          {"chunk_key_encoding", named("default", {{"separator", "/"}})},
          {"fill_value", fill_of(array.dtype)},
          {"codecs", codecs_of(array)},
          {"attributes", attributes},
          {"dimension_names", names}};
}

json array_of_format_2(const NewZarray& array, json fill) {
  return {{"zarr_format", 2},
          {"shape", array.shape},
          {"chunks", array.chunks},
          {"dtype", array.uint64 ? uint64_type : numpy_type(array.dtype)},
          {"compressor", compressor_of(array.compression)},
          {"fill_value", std::move(fill)},  // no chunk is missing; xarray reads a number as missing
          {"order", "C"},
          {"filters", nullptr}};
}

json group_of(bool format_3) {
  return format_3 ? json{{"zarr_format", 3}, {"node_type", "group"}, {"attributes", json::object()}}
                  : json{{"zarr_format", 2}};
}

json read_json(const fs::path& path, const char* op) { return parse_json(read_file(op, path), path.string(), op); }

void write_json(const fs::path& path, const json& value, const char* op) {
  write_atomically(op, path, value.dump(4, ' ', false, json::error_handler_t::replace) + "\n");
}

/// Adds nodes, by their paths in the store, to the consolidated metadata of a group that contains them.
void consolidate(const fs::path& store, const std::string& group, bool format_3,
                 const std::map<std::string, json>& nodes, const char* op) {
  const auto path = store / group / (format_3 ? "zarr.json" : ".zmetadata");
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  auto all = read_json(path, op);
  auto* known = &all;
  if (format_3) {
    const auto consolidated = all.find("consolidated_metadata");
    if (consolidated == all.end() || !consolidated->is_object()) return;
    known = &*consolidated;
  }
  const auto before = group.empty() ? group : group + "/";
  for (const auto& [name, node] : nodes)
    if (name.starts_with(before)) (*known)["metadata"][name.substr(before.size())] = node;
  write_json(path, all, op);
}

/// Returns the groups that contain an array, the store first.
std::vector<std::string> groups_around(const std::string& name) {
  std::vector<std::string> groups;
  if (name.empty()) return groups;
  groups.emplace_back();
  for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
    groups.push_back(name.substr(0, slash));
  return groups;
}

}  // namespace

ZarrMetadata metadata_of(const NewZarray& array, const Annotations& annotations, const std::string& name) {
  auto names = annotations.dimension_names;
  names.resize(array.shape.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].empty())
      names[i] = heatpp::detail::formatted("{}_dim_{}", name.empty() ? "data" : name.substr(name.rfind('/') + 1), i);
  auto said = annotations.attributes;
  if (array.format == 3) return {{"zarr.json", array_of_format_3(array, names, zarr_attributes(said, array.dtype, 3))}};
  auto fill = taken_fill(said, array.dtype);
  auto attributes = zarr_attributes(said, array.dtype, 2);
  attributes[xarray_names] = names;
  return {{".zarray", array_of_format_2(array, std::move(fill))}, {".zattrs", attributes}};
}

void write_metadata(const fs::path& directory, const ZarrMetadata& metadata, const char* op) {
  std::error_code ignored;
  fs::create_directories(directory, ignored);
  for (auto file = metadata.rbegin(); file != metadata.rend(); ++file)  // .zattrs first: .zarray makes it an array
    write_json(directory / file->first, file->second, op);
}

void tell_groups(const fs::path& store, const std::string& name, const ZarrMetadata& metadata, const char* op) {
  const bool format_3 = metadata.contains("zarr.json");
  const auto key = [&](const std::string& node, const std::string& file) {
    return format_3 ? node : joined_name(node, file);
  };
  std::map<std::string, json> nodes;
  for (const auto& [file, value] : metadata) nodes[key(name, file)] = value;
  const auto groups = groups_around(name);
  for (const auto& group : groups) {
    if (format_of_group(store / group, op) != 0) continue;
    auto node = group_of(format_3);
    const auto file = format_3 ? "zarr.json" : ".zgroup";
    if (!group.empty()) nodes[key(group, file)] = node;
    else if (!format_3)
      write_json(store / ".zmetadata", {{"zarr_consolidated_format", 1}, {"metadata", {{file, node}}}}, op);
    else node["consolidated_metadata"] = {{"kind", "inline"}, {"must_understand", false}, {"metadata", json::object()}};
    write_json(store / group / file, node, op);
  }
  for (const auto& group : groups) consolidate(store, group, format_3, nodes, op);
}

int format_of_group(const fs::path& directory, const char* op) {
  std::error_code ignored;
  if (fs::exists(directory / ".zgroup", ignored)) return 2;
  const auto path = directory / "zarr.json";
  return fs::exists(path, ignored) && !is_zarr_array(read_file(op, path)) ? 3 : 0;
}

}  // namespace heatpp::io::detail
