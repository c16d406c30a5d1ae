#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/attributes.hpp>
#include <functional>

#include <nlohmann/json_fwd.hpp>

namespace heatpp::io::detail {

/// What a file says about an array, besides its elements.
struct Annotations {
  std::vector<std::string> dimension_names = {};  ///< one for each axis, or none
  Attributes attributes = {};
};

/// Returns the annotations of a new array from its options.
[[nodiscard]] Annotations annotations_of(const auto& options) { return {options.dimension_names, options.attributes}; }

/// Returns a text in UTF-8. Texts that are not valid UTF-8 are taken as Latin-1, which older files contain.
[[nodiscard]] std::string in_utf8(std::string text);

/// Convert to and from JSON. Only named texts, numbers and lists of these are converted.
[[nodiscard]] nlohmann::json json_of(const Attributes& attributes);
[[nodiscard]] Attributes attributes_of(const nlohmann::json& all);

/// Returns JSON that also holds the types which JSON does not distinguish, for other ranks.
[[nodiscard]] nlohmann::json typed_json(const Attributes& attributes);
[[nodiscard]] Attributes from_typed(const nlohmann::json& all);

/// Replaces numbers that JSON does not have by the texts "NaN", "Infinity" and "-Infinity", and back.
void name_numbers(nlohmann::json& value);
void read_numbers(nlohmann::json& value);

/// Returns a value for display: "K", or 0.5, 2.0. Long lists are cut after some hundred characters.
[[nodiscard]] std::string to_text(const Attribute& attribute);
[[nodiscard]] std::string short_text(const Attribute& attribute);
/// Returns a name in which line breaks and other control characters are escaped as in JSON.
[[nodiscard]] std::string in_a_line(const std::string& name);

/// Works as seen_by_first for JSON. It may contain NaN and texts that are not UTF-8, which JSON's text does not allow.
[[nodiscard]] nlohmann::json json_seen_by_first(const Communicator& comm, const std::function<nlohmann::json()>& look);

}  // namespace heatpp::io::detail
