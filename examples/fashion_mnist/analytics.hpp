#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>

/// Prints moments and percentiles of the images' brightness, class by class. Writes the coordinates of the images in
/// the plane of their two principal components to `numbers` (NPZ), which examples/plot.py draws. `images` are (n, 28,
/// 28), `labels` (n,), both split along the first axis. Collective; rank 0 prints.
void analyse(const heatpp::DNDarray& images, const heatpp::DNDarray& labels, const std::filesystem::path& numbers);
