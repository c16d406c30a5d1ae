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

/// As JSON, and back: what is neither a text, a number nor a list of these is left out.
[[nodiscard]] nlohmann::json json_of(const Attributes& attributes);
[[nodiscard]] Attributes attributes_of(const nlohmann::json& all);

/// For people, as "K" or 0.5, 2.
[[nodiscard]] std::string to_text(const Attribute& attribute);

/// The JSON of rank 0 on all ranks, with numbers and texts that JSON's text has not: NaN, and other encodings.
/// Collective.
[[nodiscard]] nlohmann::json broadcast(const nlohmann::json& value, const Communicator& comm);

/// Throws ValueError naming `op` for names of dimensions that are not one for each axis of `shape`, and for attributes
/// without a name or a value.
void check(const char* op, const Annotations& annotations, const Shape& shape);

}  // namespace heatpp::io::detail
