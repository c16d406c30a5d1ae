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
/// Returns a text whose start, middle or end, as `anchor` says, lies at the point.
[[nodiscard]] std::string label(Point at, std::string_view text, std::string_view anchor);
[[nodiscard]] std::string picture(int width, int height, std::string_view body);

/// Returns the range from the smallest to the largest finite value; it is never empty.
[[nodiscard]] Range range_of(const std::vector<double>& values);
/// Returns four to ten round numbers within `range`.
[[nodiscard]] std::vector<double> ticks(const Range& range);

}  // namespace heatpp::nn::detail
