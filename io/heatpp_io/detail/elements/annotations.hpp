#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/attributes.hpp>

#include <nlohmann/json_fwd.hpp>

namespace heatpp::io::detail {

/// What a file says of an array beside its elements.
struct Annotations {
  std::vector<std::string> dimension_names = {};  ///< one for each axis, or none
  Attributes attributes = {};
};

/// What is to be said of a new one.
[[nodiscard]] Annotations annotations_of(const auto& options) { return {options.dimension_names, options.attributes}; }

/// A text that a file holds in UTF-8, or else in Latin-1, as older ones do: in UTF-8.
[[nodiscard]] std::string in_utf8(std::string text);

/// As JSON, and back: what has no name, and is neither a text, a number nor a list of these, is left out.
[[nodiscard]] nlohmann::json json_of(const Attributes& attributes);
[[nodiscard]] Attributes attributes_of(const nlohmann::json& all);

/// With the types that JSON does not tell apart, for other ranks.
[[nodiscard]] nlohmann::json typed_json(const Attributes& attributes);
[[nodiscard]] Attributes from_typed(const nlohmann::json& all);

/// Turns the numbers that JSON's text has not into the texts "NaN", "Infinity" and "-Infinity", and back.
void name_numbers(nlohmann::json& value);
void read_numbers(nlohmann::json& value);

/// For people, as "K", or 0.5, 2.0; the latter of some hundred characters at most.
[[nodiscard]] std::string to_text(const Attribute& attribute);
[[nodiscard]] std::string short_text(const Attribute& attribute);
/// A name without line breaks and their kin, which are written as in JSON.
[[nodiscard]] std::string in_a_line(const std::string& name);

/// The JSON of rank 0 on all ranks, with numbers and texts that JSON's text has not: NaN, and other encodings.
/// Collective.
[[nodiscard]] nlohmann::json broadcast(const nlohmann::json& value, const Communicator& comm);

}  // namespace heatpp::io::detail
