#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/zarr/detail/zarr_attributes.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace heatpp::io::detail {
namespace {

using nlohmann::json;

constexpr auto xarray_names = "_ARRAY_DIMENSIONS";

/// Those without a name, null in format 3, are empty; all of them are none.
std::vector<std::string> names_of(const json& names) {
  std::vector<std::string> all;
  for (const auto& name : names) all.push_back(name.is_string() ? name.get<std::string>() : "");
  return std::ranges::all_of(all, &std::string::empty) ? std::vector<std::string>{} : all;
}

/// xarray's packed numbers of format 2 say by the fill value what is missing.
void take_fill(const json& array, json& attributes) {
  const bool packed = attributes.contains("scale_factor") || attributes.contains("add_offset");
  if (packed && !attributes.contains("_FillValue") && array.value("fill_value", json()).is_number())
    attributes["_FillValue"] = array["fill_value"];
}

Annotations annotations(const json& array, const json& names, json attributes) {
  if (!attributes.is_object()) attributes = json::object();
  read_numbers(attributes);
  const bool fit = names.size() == array.value("shape", json::array()).size();
  return {fit ? names_of(names) : std::vector<std::string>{}, attributes_of(attributes)};
}

}  // namespace

Annotations read_zarr_attributes(const std::filesystem::path& metadata, const char* op) {
  const auto array = parse_json(read_file(op, metadata), metadata.string(), op);
  if (metadata.filename() == "zarr.json")
    return annotations(array, array.value("dimension_names", json()), array.value("attributes", json::object()));
  const auto beside = metadata.parent_path() / ".zattrs";
  std::error_code ignored;
  if (!std::filesystem::exists(beside, ignored)) return {};
  auto all = parse_json(read_file(op, beside), beside.string(), op);
  const auto names = all.value(xarray_names, json());
  all.erase(xarray_names);
  take_fill(array, all);
  return annotations(array, names, std::move(all));
}

std::string zattrs_text(const Annotations& annotations) {
  auto all = json_of(annotations.attributes);
  name_numbers(all);
  if (!annotations.dimension_names.empty()) all[xarray_names] = annotations.dimension_names;
  return all.dump(4, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace heatpp::io::detail
