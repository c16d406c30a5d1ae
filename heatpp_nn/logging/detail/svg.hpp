#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heatpp::nn::detail {

struct Point {
  double x, y;
};
struct Range {
  double low, high;
};

[[nodiscard]] std::string line(Point from, Point to, std::string_view color);
[[nodiscard]] std::string rectangle(Point corner, Point opposite, std::string_view color);
/// `anchor`: start, middle or end of the text lies at the point.
[[nodiscard]] std::string label(Point at, std::string_view text, std::string_view anchor);
[[nodiscard]] std::string picture(int width, int height, std::string_view body);

/// From the smallest to the largest finite value; never empty.
[[nodiscard]] Range range_of(const std::vector<double>& values);
/// Four to ten round numbers within `range`.
[[nodiscard]] std::vector<double> ticks(const Range& range);

}  // namespace heatpp::nn::detail
