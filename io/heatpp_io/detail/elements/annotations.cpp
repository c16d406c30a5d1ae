#include <heatpp_io/detail/elements/annotations.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/look.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace heatpp::io::detail {
namespace {

using nlohmann::json;

bool is_text(const json& value) { return value.is_string(); }
bool is_number(const json& value) { return value.is_number(); }
bool is_whole(const json& value) {
  return value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT64_MAX : value.is_number_integer();
}

std::optional<Attribute> list_of(json list) {
  for (auto& value : list)
    if (value.is_boolean()) value = value.get<bool>() ? 1 : 0;
  const auto all = [&](bool (*is)(const json&)) { return std::all_of(list.begin(), list.end(), is); };
  if (list.empty()) return std::nullopt;
  if (all(is_text)) return list.get<std::vector<std::string>>();
  if (all(is_whole)) return list.get<std::vector<std::int64_t>>();
  if (all(is_number)) return list.get<std::vector<double>>();
  return std::nullopt;
}

std::optional<Attribute> attribute_of(const json& value) {
  if (value.is_array()) return list_of(value);
  if (value.is_boolean()) return std::int64_t{value.get<bool>()};
  if (is_text(value)) return value.get<std::string>();
  if (is_whole(value)) return value.get<std::int64_t>();
  if (is_number(value)) return value.get<double>();
  return std::nullopt;
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(json(text).dump());  // throws for other encodings
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
    if (auto attribute = attribute_of(value); attribute && !name.empty())
      attributes.emplace(name, std::move(*attribute));
  return attributes;
}

json typed_json(const Attributes& attributes) {
  auto all = json::object();
  for (const auto& [name, attribute] : attributes)
    std::visit([&, &name = name, &of = attribute](const auto& value) { all[name] = {of.index(), value}; }, attribute);
  return all;
}

Attributes from_typed(const json& all) {
  Attributes attributes;
  const auto take = [&]<std::size_t... i>(const std::string& name, const json& typed, std::index_sequence<i...>) {
    const auto one = [&]<std::size_t at>(std::integral_constant<std::size_t, at>) {
      if (typed[0] == at) attributes[name] = typed[1].get<std::variant_alternative_t<at, Attribute>>();
    };
    (one(std::integral_constant<std::size_t, i>()), ...);
  };
  for (const auto& [name, typed] : all.items())
    take(name, typed, std::make_index_sequence<std::variant_size_v<Attribute>>());
  return attributes;
}

void name_numbers(json& value) {
  if (value.is_structured())
    for (auto& inner : value) name_numbers(inner);
  if (!value.is_number_float() || std::isfinite(value.get<double>())) return;
  const auto number = value.get<double>();
  value = std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

void read_numbers(json& value) {
  if (value.is_structured())
    for (auto& inner : value) read_numbers(inner);
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  if (value == "NaN") value = std::numeric_limits<double>::quiet_NaN();
  else if (value == "Infinity") value = infinity;
  else if (value == "-Infinity") value = -infinity;
}

std::string to_text(const Attribute& attribute) {
  const auto one = [](const json& value) {
    if (value.is_number_float() && !std::isfinite(value.get<double>()))
      return heatpp::detail::formatted("{}", value.get<double>());
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  const auto all = std::visit([](const auto& value) { return json(value); }, attribute);
  if (!all.is_array()) return one(all);
  std::string text;
  for (const auto& value : all) text += (text.empty() ? "" : ", ") + one(value);
  return text;
}

std::string short_text(const Attribute& attribute) {
  constexpr std::size_t most = 100;
  const auto text = to_text(attribute);
  return text.empty() ? "nothing" : text.size() <= most ? text : text.substr(0, most) + "...";
}

std::string in_a_line(const std::string& name) {
  const auto quoted = json(name).dump(-1, ' ', false, json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

json json_seen_by_first(const Communicator& comm, const std::function<json()>& look) {
  return json::from_cbor(seen_by_first(comm, [&] {
    std::string bytes;
    json::to_cbor(look(), bytes);
    return bytes;
  }));
}

}  // namespace heatpp::io::detail
