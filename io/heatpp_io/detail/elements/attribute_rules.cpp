#include <heatpp_io/detail/elements/attribute_rules.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/promotion.hpp>

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;
using Texts = std::vector<std::string>;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool has_zero(const std::string& text) { return text.find('\0') != std::string::npos; }

template <class T>
void each_of(const T& one, const auto& see) {
  see(one);
}
template <class T>
void each_of(const std::vector<T>& list, const auto& see) {
  for (const auto& one : list) see(one);
}
/// Calls `see` with each text or number.
void each(const Attribute& value, const auto& see) {
  std::visit([&](const auto& held) { each_of(held, see); }, value);
}

std::size_t count_of(const Attribute& value) {
  std::size_t count = 0;
  each(value, [&](const auto&) { ++count; });
  return count;
}

bool is_text(const Attribute& value) {
  return std::holds_alternative<std::string>(value) || std::holds_alternative<Texts>(value);
}

std::string by_all(const std::string& name, const Attribute& value) {
  bool zeros = has_zero(name);
  each(value, [&](const auto& one) {
    if constexpr (std::is_same_v<std::decay_t<decltype(one)>, std::string>) zeros = zeros || has_zero(one);
  });
  if (name.empty()) return "a name";
  if (count_of(value) == 0) return "a text, a number or some of these";
  return zeros ? "texts without zeros" : "";
}

std::string names_by_all(const Texts& names, const Shape& shape) {
  if (!names.empty() && names.size() != shape.size()) return "one for each axis";
  return std::ranges::any_of(names, has_zero) ? "texts without zeros" : "";
}

std::string by_hdf5(const std::string& name, const Attribute& value, const AttributePlace&) {
  constexpr std::size_t most_bytes = (std::size_t{64} << 10) - 512;  // for one part of a header, less what HDF5 needs
  if (auto expected = by_all(name, value); !expected.empty()) return expected;
  const bool scale = name == "CLASS" && value == Attribute("DIMENSION_SCALE");
  if (is_of_hdf5(name) || scale) return "another name, as HDF5 or netCDF keep this one for themselves";
  const auto bytes = name.size() + count_of(value) * (is_text(value) ? 16 : 8);  // long texts are stored elsewhere
  return bytes > most_bytes ? "less than 64 KiB of numbers, or 4096 texts" : "";
}

std::string by_zarr(const std::string& name, const Attribute& value, const AttributePlace&) {
  if (auto expected = by_all(name, value); !expected.empty()) return expected;
  return name == "_ARRAY_DIMENSIONS" ? "dimension_names for those" : "";
}

bool is_name_of_netcdf(const std::string& name) {
  const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == 127; };
  const auto begins = [](unsigned char c) { return c >= 128 || c == '_' || std::isalnum(c) != 0; };
  return !name.empty() && name.size() <= 256 && begins(static_cast<unsigned char>(name[0])) && name.back() != ' ' &&
         name.find('/') == std::string::npos && std::ranges::none_of(name, is_control);
}
constexpr auto names_of_netcdf =
    "names that begin with a letter, a digit or \"_\", have no \"/\", no control character and no blank at their end";

std::string by_netcdf(const std::string& name, const Attribute& value, const AttributePlace& place) {
  if (auto expected = by_all(name, value); !expected.empty()) return expected;
  if (!is_name_of_netcdf(name)) return names_of_netcdf;
  if (is_of_hdf5(name) || is_one_of(name, {"CLASS", "NAME"}))
    return "another name, as netCDF keeps this one for itself";
  if (name == "dtype" && place.dtype == bool_) return "another name, as this one says that bytes are bool";
  const bool one = count_of(value) == 1 && !is_text(value);
  if (is_one_of(name, {"scale_factor", "add_offset"}) && !one) return "one number";
  if (name == "_FillValue" && !(one && fits(value, place.dtype)))
    return formatted("one number that {} has", heatpp::name(place.dtype));
  if (place.format == NetcdfFormat::netcdf4) return {};
  if (std::holds_alternative<Texts>(value)) return "one text, or numbers, as classic formats have them";
  constexpr auto most = std::int64_t{1} << 53;
  bool exact = true;
  each(value, [&](const auto& number) {
    if constexpr (std::is_same_v<std::decay_t<decltype(number)>, std::int64_t>)
      exact = exact && number >= -most && number <= most;
  });
  return exact || place.format == NetcdfFormat::cdf5 ? "" : "whole numbers to 2^53, as the format has no wider ones";
}

std::string names_by_netcdf(const Texts& names, const Shape& shape) {
  if (auto expected = names_by_all(names, shape); !expected.empty()) return expected;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty() && !is_name_of_netcdf(names[i])) return names_of_netcdf;
    for (std::size_t j = 0; j < i; ++j)
      if (!names[i].empty() && names[i] == names[j] && shape[i] != shape[j])
        return "other names for axes of other lengths";
  }
  return {};
}

/// Whether a dtype with room for the numbers represents them exactly.
bool is_exact(const Attribute& value, Dtype dtype) {
  bool all = true;
  each(value, [&](const auto& one) {
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(one)>>)
      all = all && (std::isnan(one) || dtype < float16 || is_complex(dtype) ||
                    heatpp::detail::element_of(Scalar(one), dtype).toDouble() == static_cast<double>(one));
  });
  return all;
}

}  // namespace

const AttributeRules hdf5_rules{by_hdf5, names_by_all}, netcdf_rules{by_netcdf, names_by_netcdf},
    zarr_rules{by_zarr, names_by_all};

bool fits(const Attribute& value, Dtype dtype) {
  bool all = !is_text(value);
  const auto element = dtype == bool_ ? int8 : dtype;
  each(value, [&](const auto& one) {
    using One = std::decay_t<decltype(one)>;
    if constexpr (std::is_floating_point_v<One>)
      all =
          all && (element >= float16 || (std::trunc(one) == one && heatpp::detail::is_in_range(Scalar(one), element)));
    else if constexpr (std::is_same_v<One, std::int64_t>)
      all = all && (element >= float16 || heatpp::detail::is_in_range(Scalar(one), element));
  });
  return all;
}

bool gets_its_type(const std::string& name, const Attribute& value, Dtype dtype) {
  if (!fits(value, dtype)) return false;
  return name == "_FillValue" ||
         (is_exact(value, dtype) &&
          is_one_of(name, {"missing_value", "valid_min", "valid_max", "valid_range", "flag_values", "flag_masks"}));
}

bool is_of_hdf5(const std::string& name) {
  return name.starts_with("_Netcdf4") || name.starts_with("_NC") ||
         is_one_of(name, {"DIMENSION_LABELS", "DIMENSION_LIST", "REFERENCE_LIST", "_IsNetcdf4", "_SuperblockVersion"});
}

void check(const char* op, const Annotations& annotations, const Shape& shape, const AttributeRules& rules,
           const AttributePlace& place) {
  const auto& names = annotations.dimension_names;
  if (const auto expected = rules.dimensions(names, shape); !expected.empty())
    raise<ValueError>(op, "got {} dimension names for an array of shape {}, \"{}\"; expected {}", names.size(),
                      heatpp::to_string(shape), fmt::join(names, "\", \""), expected);
  for (const auto& [name, value] : annotations.attributes)
    if (const auto expected = rules.attribute(name, value, place); !expected.empty())
      raise<ValueError>(op, "got attribute \"{}\" of {}; expected {}", in_a_line(name), short_text(value), expected);
}

Annotations allowed(const char* op, const Annotations& annotations, const Shape& shape, const AttributeRules& rules,
                    const AttributePlace& place) {
  auto kept = annotations;
  const auto tell = [op](const std::string& what, const std::string& expected) {
    log(LogLevel::warning, formatted("[{}] left out {}; expected {}", op, what, expected));
  };
  if (const auto expected = rules.dimensions(kept.dimension_names, shape); !expected.empty()) {
    tell(formatted("the dimension names \"{}\"", fmt::join(kept.dimension_names, "\", \"")), expected);
    kept.dimension_names.clear();
  }
  std::erase_if(kept.attributes, [&](const auto& each) {
    const auto expected = rules.attribute(each.first, each.second, place);
    if (!expected.empty())
      tell(formatted("attribute \"{}\" of {}", in_a_line(each.first), short_text(each.second)), expected);
    return !expected.empty();
  });
  return kept;
}

}  // namespace heatpp::io::detail
