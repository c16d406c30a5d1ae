#include <heatpp_nn/logging/detail/svg.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heatpp::nn::detail {
namespace {

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') safe += "&amp;";
    else if (c == '<') safe += "&lt;";
    else if (c == '>') safe += "&gt;";
    else if (c == '"') safe += "&quot;";
    else safe += c;
  }
  return safe;
}

}  // namespace

std::string line(Point from, Point to, std::string_view color) {
  return heatpp::detail::formatted("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n",
                                   from.x, from.y, to.x, to.y, color);
}

std::string rectangle(Point corner, Point opposite, std::string_view color) {
  return heatpp::detail::formatted("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                                   corner.x, corner.y, opposite.x - corner.x, opposite.y - corner.y, color);
}

std::string label(Point at, std::string_view text, std::string_view anchor) {
  return heatpp::detail::formatted("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at.x, at.y, anchor,
                                   escaped(text));
}

std::string picture(int width, int height, std::string_view body) {
  return heatpp::detail::formatted(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" "
      "height=\"{1}\" fill=\"white\"/>\n{2}</svg>\n",
      width, height, body);
}

Range range_of(const std::vector<double>& values) {
  Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const auto value : values)
    if (std::isfinite(value)) range = {std::min(range.low, value), std::max(range.high, value)};
  if (range.low > range.high) return {0, 1};
  if (range.low == range.high) return {range.low - 0.5, range.high + 0.5};
  return range;
}

std::vector<double> ticks(const Range& range) {
  const double span = range.high - range.low;
  double step = std::pow(10, std::floor(std::log10(span)));
  for (const double part : {0.5, 0.4, 0.5})  // relative steps to 0.5, 0.2 and 0.1 of a power of ten
    if (span / step < 4) step *= part;
  std::vector<double> found;
  for (auto k = std::ceil(range.low / step); k * step <= range.high; ++k) found.push_back(k * step);
  return found;
}

}  // namespace heatpp::nn::detail
