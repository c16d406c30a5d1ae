#pragma once

#include "summary.hpp"

#include <string>

namespace tools {

/// Draws a histogram with its moments as SVG.
[[nodiscard]] std::string histogram_picture(const Summary& summary, const std::string& title);

/// Draws the elements of the last two axes, at the first position of the other axes, as a PNG picture from blue (low)
/// to red (high). It has at most 1024 x 1024 points: larger arrays show every second, third, ... element. NaN and
/// infinities are white. Collective. Throws ValueError for an array of one axis or none.
[[nodiscard]] std::string elements_picture(const heatpp::io::StoredArray& x, const Summary& summary);

}  // namespace tools
