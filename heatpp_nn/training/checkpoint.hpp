#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_nn/data/position.hpp>
#include <heatpp_nn/parallel/daso.hpp>
#include <map>

namespace heatpp::nn {

/// Tensors of the caller that belong to the training, by name. They may differ between ranks.
using Extras = std::map<std::string, at::Tensor>;

/// Writes the whole state of a training to one file, and changes nothing: weights, buffers, optimizer, the state of
/// DASO with transfers under way between nodes, and for every rank its random number generators (LibTorch's, of the CPU
/// and of the network's GPU) and the caller's position and extras. Call it between two batches, also within a cycle.
/// Ranks with equal weights write them once. The file appears complete or not at all. Collective. Throws on all ranks:
/// IoError; ValueError if paths or optimizers differ between ranks, or if a gradient of any node was not finite, which
/// otherwise the next exchange between nodes would report.
void save_checkpoint(const std::string& path, DASO& daso, const Position& position = {}, const Extras& extras = {});
/// Saves a training with `DataParallel`.
void save_checkpoint(const std::string& path, Replica& replica, torch::optim::Optimizer& optimizer,
                     const Position& position = {}, const Extras& extras = {});

/// The position and extras of a loaded checkpoint.
struct Resumed {
  Position position;
  Extras extras;  ///< those of this rank; those of rank 0 if the file has another number of ranks
};

/// Loads a file of `save_checkpoint`, which rank 0 reads. With the same number of ranks, equal nodes, and the same
/// merge rule, carriers, wires and bucket sizes, the training continues with the same bits as without an interruption.
/// Otherwise, and between DASO and DataParallel, the weights and the optimizer's state become the mean over the ranks
/// that wrote, transfers under way are dropped, and each rank keeps its generator. The phases are those of the file,
/// unless the options ask for other phases than the writer's options did, e.g. for more epochs; after a file of
/// DataParallel the phases begin again. Collective. Throws IoError on all ranks, with the file's name, if it is
/// missing, damaged, or of another module or optimizer; weights and buffers are then unchanged.
Resumed load_checkpoint(const std::string& path, DASO& daso);
Resumed load_checkpoint(const std::string& path, Replica& replica, torch::optim::Optimizer& optimizer);

}  // namespace heatpp::nn
