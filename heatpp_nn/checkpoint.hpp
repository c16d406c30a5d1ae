#pragma once

#include <heatpp_nn/daso.hpp>

namespace heatpp::nn {

/// Writes everything that training needs to go on to one file, from rank 0: weights, buffers, optimizer, the state of
/// DASO, every rank's random number generator, and the caller's `epoch`. Drains first, which belongs to the run: going
/// on from the file gives the same bits as going on without it, on equally many ranks. The file appears complete or not
/// at all; it is a LibTorch archive from which `torch::load(module, path)` takes the weights. Collective. Throws
/// IoError on all ranks.
void save_checkpoint(const std::string& path, DASO& daso, std::int64_t epoch);

/// Goes on from a file of `save_checkpoint`, read by rank 0, on any number of ranks; returns its epoch. The phases are
/// the file's. Collective. Throws IoError on all ranks, naming the file, where it is missing, damaged, or of another
/// module or optimizer; the weights are then as before.
[[nodiscard]] std::int64_t load_checkpoint(const std::string& path, DASO& daso);

}  // namespace heatpp::nn
