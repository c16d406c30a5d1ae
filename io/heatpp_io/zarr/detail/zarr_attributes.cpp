#include <heatpp_io/zarr/detail/zarr_attributes.hpp>

#include <heatpp_io/detail/elements/attribute_rules.hpp>
#include <heatpp_io/zarr/detail/base64.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>

#include <heatpp/core/promotion.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace heatpp::io::detail {
namespace {

using nlohmann::json;

constexpr auto fill_name = "_FillValue";

/// Returns the names. One that is missing (null in format 3) is empty; if all are missing, returns none.
std::vector<std::string> names_of(const json& names) {
  std::vector<std::string> all;
  for (const auto& name : names) all.push_back(name.is_string() ? name.get<std::string>() : "");
  return std::ranges::all_of(all, &std::string::empty) ? std::vector<std::string>{} : all;
}

/// In format 2, the fill value marks missing values for xarray.
void take_fill(const json& array, json& attributes) {
  const auto fill = array.value("fill_value", json());
  const bool number = fill.is_number() || fill.is_array() || fill == "NaN" || fill == "Infinity" || fill == "-Infinity";
  if (number) attributes[fill_name] = fill;
}

/// xarray writes floats in format 3 as base64.
void take_base64(json& attributes) {
  if (!attributes.is_object() || !attributes.contains(fill_name)) return;
  const auto take = [](json& number) {
    const auto found = number.is_string() ? number_from_base64(number.get<std::string>()) : std::nullopt;
    if (found) number = *found;
  };
  auto& fill = attributes[fill_name];
  if (fill.is_array()) std::ranges::for_each(fill, take);
  else take(fill);
}

/// Writes a number of the dtype as xarray does in format 3: floats, and both parts of complex numbers, in base64.
void put_fill(json& fill, Dtype dtype) {
  const auto text = [](const json& number) { return json(base64_of(number.get<double>())); };
  const bool pair = fill.is_array() && fill.size() == 2 && fill[0].is_number() && fill[1].is_number();
  if (is_complex(dtype) && (pair || fill.is_number()))
    fill = pair ? json{text(fill[0]), text(fill[1])} : json{text(fill), text(0.0)};
  else if (!fill.is_number() || dtype == bool_) return;
  else if (is_whole(dtype)) fill = std::trunc(fill.get<double>()) == fill ? json(fill.get<std::int64_t>()) : fill;
  else fill = text(fill);
}

Annotations annotations(const json& array, const json& names, json attributes) {
  if (!attributes.is_object()) attributes = json::object();
  read_numbers(attributes);
  const bool fit = names.size() == array.value("shape", json::array()).size();
  return {fit ? names_of(names) : std::vector<std::string>{}, attributes_of(attributes)};
}

}  // namespace

Annotations read_zarr_attributes(const StoreFiles& files, const std::string& metadata, const char* op) {
  const auto parsed = [&](const std::string& name) { return parse_json(files.text(name, op), files.shown(name), op); };
  const auto array = parsed(metadata);
  if (metadata.ends_with("zarr.json")) {
    auto said = array.value("attributes", json::object());
    take_base64(said);
    return annotations(array, array.value("dimension_names", json()), std::move(said));
  }
  const auto beside = metadata.substr(0, metadata.size() - std::string_view(".zarray").size()) + ".zattrs";
  if (!files.has(beside)) return {};
  auto all = parsed(beside);
  const auto names = all.value(xarray_names, json());
  if (all.erase(xarray_names) > 0) take_fill(array, all);
  return annotations(array, names, std::move(all));
}

json taken_fill(Attributes& attributes, Dtype dtype) {
  const auto found = attributes.find(fill_name);
  if (dtype == bool_ || found == attributes.end() || !fits(found->second, dtype)) return {};
  const auto fill = std::move(attributes.extract(found).mapped());
  const auto* number = std::get_if<double>(&fill);
  auto value = number && is_whole(dtype) ? json(static_cast<std::int64_t>(*number)) : json_of({{"fill", fill}})["fill"];
  name_numbers(value);
  return value;
}

json zarr_attributes(const Attributes& attributes, Dtype dtype, int format) {
  auto all = json_of(attributes);
  const auto fill = all.find(fill_name);
  if (format == 3 && fill != all.end()) put_fill(*fill, dtype);
  name_numbers(all);
  return all;
}

}  // namespace heatpp::io::detail
