#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/detail/files/expand.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;
using nlohmann::json;

bool is_text(const json& value) { return value.is_string(); }
bool is_number(const json& value) { return value.is_number() || value.is_boolean(); }
bool is_whole(const json& value) {
  return value.is_boolean() ||
         (value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT64_MAX : value.is_number_integer());
}

std::optional<Attribute> list_of(const json& list) {
  const auto all = [&](bool (*is)(const json&)) { return std::all_of(list.begin(), list.end(), is); };
  if (list.empty()) return std::nullopt;
  if (all(is_text)) return list.get<std::vector<std::string>>();
  if (all(is_whole)) return list.get<std::vector<std::int64_t>>();
  if (all(is_number)) return list.get<std::vector<double>>();
  return std::nullopt;
}

std::optional<Attribute> attribute_of(const json& value) {
  if (value.is_array()) return list_of(value);
  if (is_text(value)) return value.get<std::string>();
  if (is_whole(value)) return value.get<std::int64_t>();
  if (is_number(value)) return value.get<double>();
  return std::nullopt;
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(json(text).dump());  // which refuses other encodings
  } catch (const json::type_error&) {
    return false;
  }
  return true;
}

}  // namespace

std::string in_utf8(std::string text) {
  if (is_utf8(text)) return text;
  std::string wide;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) wide.push_back(static_cast<char>(0xC0 | code >> 6));
    wide.push_back(static_cast<char>(code < 0x80 ? code : 0x80 | (code & 0x3F)));
  }
  return wide;
}

json json_of(const Attributes& attributes) {
  auto all = json::object();
  for (const auto& [name, attribute] : attributes)
    std::visit([&, &name = name](const auto& value) { all[name] = value; }, attribute);
  return all;
}

Attributes attributes_of(const json& all) {
  Attributes attributes;
  for (const auto& [name, value] : all.items())
    if (auto attribute = attribute_of(value)) attributes.emplace(name, std::move(*attribute));
  return attributes;
}

std::string to_text(const Attribute& attribute) {
  const auto text = std::visit(
      [](const auto& value) { return json(value).dump(-1, ' ', false, json::error_handler_t::replace); }, attribute);
  return text.starts_with('[') ? text.substr(1, text.size() - 2) : text;
}

json broadcast(const json& value, const Communicator& comm) {
  std::string bytes;
  json::to_cbor(value, bytes);
  return json::from_cbor(broadcast_bytes(std::move(bytes), comm));
}

void check(const char* op, const Annotations& annotations, const Shape& shape) {
  const auto& names = annotations.dimension_names;
  if (!names.empty() && names.size() != shape.size())
    raise<ValueError>(op, "got {} dimension names for an array of shape {}; expected one for each axis", names.size(),
                      heatpp::to_string(shape));
  for (const auto& [name, attribute] : annotations.attributes)
    if (const auto text = to_text(attribute); name.empty() || text.empty())
      raise<ValueError>(op, "got attribute \"{}\" of value {}; expected a name, and a text, a number or some of these",
                        name, text.empty() ? "[]" : text);
}

}  // namespace heatpp::io::detail
