#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace heatpp::io {

/// A text, a number, or a list of these, which a file says of an array. A float32 number is kept as such, because the
/// type of a scale_factor or add_offset chooses the dtype of the numbers.
using Attribute = std::variant<std::string, std::int64_t, double, std::vector<std::int64_t>, std::vector<double>,
                               std::vector<std::string>, float>;
/// By their names: {{"units", "K"}, {"valid_min", 0.0}}.
using Attributes = std::map<std::string, Attribute>;

}  // namespace heatpp::io
