#pragma once

#include <filesystem>
#include <heatpp/core/model_state.hpp>

namespace heatpp::io {

/// Writes an estimator's state to a file in safetensors format, with its class and options as texts besides the arrays:
/// `save_model(path, model.state())`, in Python `save_model(path, model.state)`. `scripts/to_sklearn` makes
/// scikit-learn's estimator from it. Collective. Throws as save_safetensors.
void save_model(const std::filesystem::path& path, const ModelState& state);
/// Loads the state from such a file, every array on every rank: `ht::KMeans::from_state(load_model(path))`, in Python
/// `ht.KMeans.from_state(load_model(path))`. Collective. Throws as load_safetensors, and IoError on all ranks for a
/// file without a model.
[[nodiscard]] ModelState load_model(const std::filesystem::path& path);

}  // namespace heatpp::io
