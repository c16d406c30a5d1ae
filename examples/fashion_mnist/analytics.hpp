#pragma once

#include <filesystem>
#include <heatpp/core/dndarray.hpp>

/// Prints what the images look like, class by class: moments and percentiles of their brightness. Writes the images'
/// places in the plane of their two principal components to `numbers` (NPZ), which examples/plot.py draws. `images`
/// are (n, 28, 28), `labels` (n,), both split along the first axis. Collective; rank 0 prints.
void analyse(const heatpp::DNDarray& images, const heatpp::DNDarray& labels, const std::filesystem::path& numbers);
