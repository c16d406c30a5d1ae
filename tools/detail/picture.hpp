#pragma once

#include "summary.hpp"

#include <string>

namespace tools {

/// A histogram with the moments beside it, as SVG.
[[nodiscard]] std::string histogram_picture(const Summary& summary, const std::string& title);

/// The elements of the last two axes, of the others the first, as a PNG picture from blue (low) to red (high), at most
/// 1024 x 1024: of larger ones every second, third, ... element. What is not finite is white. Collective. Throws
/// ValueError for an array of one axis or none.
[[nodiscard]] std::string elements_picture(const heatpp::io::StoredArray& x, const Summary& summary);

}  // namespace tools
