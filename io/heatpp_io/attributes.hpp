#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace heatpp::io {

/// An attribute of an array in a file: a text, a number, or a list of these. A float32 number keeps its type, because
/// the type of a scale_factor or add_offset determines the dtype of the numbers.
using Attribute = std::variant<std::string, std::int64_t, double, std::vector<std::int64_t>, std::vector<double>,
                               std::vector<std::string>, float>;
/// Attributes by name: {{"units", "K"}, {"valid_min", 0.0}}.
using Attributes = std::map<std::string, Attribute>;

}  // namespace heatpp::io
