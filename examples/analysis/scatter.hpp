#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

/// Writes points (x, y), one pair behind another, as an SVG picture, each in the colour of its label. For one rank.
inline void write_scatter(const std::string& path, const std::string& title, const std::vector<double>& points,
                          const std::vector<std::int64_t>& labels) {
  static constexpr std::array colors{"#4c78a8", "#f58518", "#e45756", "#72b7b2", "#54a24b", "#b279a2", "#9d755d"};
  std::array<double, 2> low{points.at(0), points.at(1)}, high = low;
  for (std::size_t i = 0; i < points.size(); ++i) {
    low[i % 2] = std::min(low[i % 2], points[i]);
    high[i % 2] = std::max(high[i % 2], points[i]);
  }
  const auto part = [&](std::size_t i) { return (points[i] - low[i % 2]) / std::max(high[i % 2] - low[i % 2], 1e-30); };
  std::ofstream out(path);
  out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 640 660' font-family='sans-serif'>\n"
      << "<rect width='640' height='660' fill='white'/><text x='20' y='28'>" << title << "</text>\n";
  for (std::size_t i = 0; i < labels.size(); ++i)
    out << "<circle cx='" << 20 + 600 * part(2 * i) << "' cy='" << 640 - 600 * part(2 * i + 1) << "' r='1.6' fill='"
        << colors[static_cast<std::size_t>(labels[i]) % colors.size()] << "'/>\n";
  out << "</svg>\n";
  if (!out) throw std::runtime_error("[write_scatter] could not write " + path + "; expected a writable file");
}
