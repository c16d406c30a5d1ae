#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>

/// Prints what the images look like, class by class: moments and percentiles of their brightness. Draws the images in
/// the plane of their two principal components into `picture` (SVG). `images` are (n, 28, 28), `labels` (n,), both
/// split along the first axis. Collective; rank 0 prints and draws.
void analyse(const heatpp::DNDarray& images, const heatpp::DNDarray& labels, const std::filesystem::path& picture);
