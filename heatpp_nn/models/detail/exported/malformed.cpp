#include <heatpp_nn/models/detail/exported/malformed.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heatpp::nn::detail {

using nlohmann::json;

namespace {

[[noreturn]] void other(const json& value, const std::string& where, const char* expected) {
  const auto text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  malformed("{} of {} in place of {}", where, text.substr(0, 60), expected);
}

/// Returns the depth of nested lists and objects.
std::size_t depth_of(const std::string& text) {
  std::size_t depth = 0, deepest = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = text[i];
    if (in_text && c == '\\') ++i;
    else if (c == '"') in_text = !in_text;
    else if (in_text) continue;
    else if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    else if ((c == '}' || c == ']') && depth > 0) --depth;
  }
  return deepest;
}

}  // namespace

json parsed(const std::string& text, const std::string& where) {
  constexpr std::size_t deepest = 512;  // limits recursive readers
  if (depth_of(text) > deepest) malformed("{} of more than {} levels", where, deepest);
  auto value = json::parse(text, nullptr, false);
  if (value.is_discarded()) malformed("{} that is no JSON", where);
  return value;
}

const json& member(const json& object, const char* key, const std::string& where) {
  const auto found = object_of(object, where).find(key);
  if (found == object.end()) malformed("{} without \"{}\"", where, key);
  return *found;
}

const json* optional_member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const json& list_of(const json& value, const std::string& where) {
  if (!value.is_array()) other(value, where, "a list");
  return value;
}

const json& object_of(const json& value, const std::string& where) {
  if (!value.is_object()) other(value, where, "an object");
  return value;
}

std::string text_of(const json& value, const std::string& where) {
  if (!value.is_string()) other(value, where, "a text");
  return value.get<std::string>();
}

std::int64_t whole_of(const json& value, const std::string& where) {
  const bool fits =
      value.is_number_unsigned() ? value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX} : value.is_number_integer();
  if (!fits) other(value, where, "a whole number");
  return value.get<std::int64_t>();
}

double real_of(const json& value, const std::string& where) {
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (value == "NaN") return std::nan("");
  other(value, where, "a number");
}

bool truth_of(const json& value, const std::string& where) {
  if (!value.is_boolean()) other(value, where, "true or false");
  return value.get<bool>();
}

Choice choice_of(const json& value, const std::string& where) {
  if (!value.is_object() || value.size() != 1) other(value, where, "an object of one member");
  return {value.begin().key(), value.begin().value()};
}

}  // namespace heatpp::nn::detail
