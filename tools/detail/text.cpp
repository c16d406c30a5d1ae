#include "text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tools {

namespace ht = heatpp;
using Json = nlohmann::ordered_json;

std::string bytes_text(double bytes) {
  constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string shape_text(const ht::Shape& shape) {
  return shape.empty() ? "a number" : fmt::format("{}", fmt::join(shape, " x "));
}

ht::Shape parse_shape(const std::string& text, const char* op) {
  ht::Shape shape;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    std::size_t used = 0;
    std::int64_t extent = 0;
    try {
      extent = std::stoll(part, &used);
    } catch (const std::logic_error&) {
      used = 0;
    }
    if (used == 0 || used != part.size() || extent < 1)
      ht::detail::raise<ht::ValueError>(op, "got chunks \"{}\"; expected positive extents such as 64,64", text);
    shape.push_back(extent);
  }
  return shape;
}

ht::Dtype parse_dtype(const std::string& text, const char* op) {
  std::vector<std::string_view> names;
  for (int i = 0; i < ht::dtype_count; ++i) {
    names.push_back(ht::name(static_cast<ht::Dtype>(i)));
    if (text == names.back()) return static_cast<ht::Dtype>(i);
  }
  ht::detail::raise<ht::ValueError>(op, "got dtype \"{}\"; expected one of {}", text, fmt::join(names, ", "));
}

std::string json_text(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

namespace {

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.is_null() ? "none" : value.dump();
}

void add_line(std::string& text, const std::string& name, const Json& value, int indent) {
  const auto begin = fmt::format("{:{}}{}", "", indent, name);
  if (value.is_structured()) {
    text += begin + (value.empty() ? ": none\n" : "\n") + lines_of(value, indent + 2);
    return;
  }
  std::istringstream lines(value_text(value));
  std::string line;
  for (bool first = true; std::getline(lines, line); first = false)
    text += fmt::format("{:<20} {}\n", first ? begin : "", line);
}

}  // namespace

std::string lines_of(const Json& values, int indent) {
  std::string text;
  if (values.is_object())
    for (const auto& [name, value] : values.items()) add_line(text, name, value, indent);
  else
    for (const auto& value : values) text += fmt::format("{:{}}{}\n", "", indent, value_text(value));
  return text;
}

}  // namespace tools
