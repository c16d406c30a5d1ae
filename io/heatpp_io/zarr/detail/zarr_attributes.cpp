#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/zarr/detail/zarr_attributes.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace heatpp::io::detail {
namespace {

using nlohmann::json;

constexpr auto xarray_names = "_ARRAY_DIMENSIONS";

json parsed(const std::string& text) {
  auto all = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return all.is_object() ? all : json::object();
}

/// Nothing where a dimension has no name.
std::vector<std::string> names_of(const json& names) {
  const bool all =
      names.is_array() && std::all_of(names.begin(), names.end(), [](const json& name) { return name.is_string(); });
  return all ? names.get<std::vector<std::string>>() : std::vector<std::string>{};
}

void name_numbers(json& value) {
  if (value.is_structured())
    for (auto& inner : value) name_numbers(inner);
  if (!value.is_number_float() || std::isfinite(value.get<double>())) return;
  const auto number = value.get<double>();
  value = std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

}  // namespace

Annotations read_zarr_attributes(const std::filesystem::path& metadata, const char* op) {
  if (metadata.filename() == "zarr.json") {
    const auto all = parsed(read_file(op, metadata));
    return {names_of(all.value("dimension_names", json())), attributes_of(all.value("attributes", json::object()))};
  }
  const auto beside = metadata.parent_path() / ".zattrs";
  std::error_code ignored;
  if (!std::filesystem::exists(beside, ignored)) return {};
  auto all = parsed(read_file(op, beside));
  auto names = names_of(all.value(xarray_names, json()));
  all.erase(xarray_names);
  return {std::move(names), attributes_of(all)};
}

std::string zattrs_text(const Annotations& annotations) {
  auto all = json_of(annotations.attributes);
  name_numbers(all);
  if (!annotations.dimension_names.empty()) all[xarray_names] = annotations.dimension_names;
  return all.dump(4, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace heatpp::io::detail
