#pragma once

#include <heatpp/comm/dtype.hpp>
#include <heatpp/core/shape.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace tools {

/// Formats bytes: "47.0 MB".
[[nodiscard]] std::string bytes_text(double bytes);
/// Formats a shape: "60000 x 28 x 28", or "a number" without axes.
[[nodiscard]] std::string shape_text(const heatpp::Shape& shape);
/// Parses "64,64" as the extents of chunks. Throws ValueError.
[[nodiscard]] heatpp::Shape parse_shape(const std::string& text, const char* op);
/// Returns the dtype of that name. Throws ValueError.
[[nodiscard]] heatpp::Dtype parse_dtype(const std::string& text, const char* op);

/// Returns null for NaN and infinities, which JSON does not have.
[[nodiscard]] nlohmann::ordered_json number(double value);
/// Returns JSON in which bytes that are not UTF-8 are replaced, since names in files may contain them.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);
/// Formats names and values in lines. Parts of a value are indented below it.
[[nodiscard]] std::string lines_of(const nlohmann::ordered_json& values, int indent = 0);

}  // namespace tools
