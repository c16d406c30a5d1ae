#pragma once

#include <heatpp/comm/dtype.hpp>
#include <heatpp/core/shape.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace tools {

/// "47.0 MB".
[[nodiscard]] std::string bytes_text(double bytes);
/// "60000 x 28 x 28", "a number" without axes.
[[nodiscard]] std::string shape_text(const heatpp::Shape& shape);
/// "64,64" as the extents of chunks. Throws ValueError.
[[nodiscard]] heatpp::Shape parse_shape(const std::string& text, const char* op);
/// The dtype of that name. Throws ValueError.
[[nodiscard]] heatpp::Dtype parse_dtype(const std::string& text, const char* op);

/// null for what is not finite, which JSON has not.
[[nodiscard]] nlohmann::ordered_json number(double value);
/// With what is not UTF-8 replaced, as names in files may be.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);
/// Names and values in lines, what has parts with these indented below it.
[[nodiscard]] std::string lines_of(const nlohmann::ordered_json& values, int indent = 0);

}  // namespace tools
