#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_nn/data/position.hpp>
#include <heatpp_nn/parallel/daso.hpp>
#include <map>

namespace heatpp::nn {

/// Tensors of the caller's that belong to the training, by name. They may differ between ranks.
using Extras = std::map<std::string, at::Tensor>;

/// Writes everything that training needs to go on to one file, and changes nothing: weights, buffers, optimizer, the
/// state of DASO with what is under way between nodes, and for every rank its random number generators (LibTorch's, of
/// the CPU and of the network's GPU) and the caller's position and extras. To be called between two batches, also
/// within a cycle. Ranks with equal weights write them once. The file appears complete or not at all. Collective.
/// Throws on all ranks: IoError, and ValueError where ranks give different paths or their optimizers differ, and where
/// a gradient of some node was not finite, which the next exchange between nodes would tell.
void save_checkpoint(const std::string& path, DASO& daso, const Position& position = {}, const Extras& extras = {});
/// The same for training with `DataParallel`.
void save_checkpoint(const std::string& path, Replica& replica, torch::optim::Optimizer& optimizer,
                     const Position& position = {}, const Extras& extras = {});

/// Where to go on.
struct Resumed {
  Position position;
  Extras extras;  ///< of this rank; of rank 0 where the file has another number of ranks
};

/// Goes on from a file of `save_checkpoint`, which rank 0 reads. On as many ranks, in equal nodes and with the same
/// merge rule, carriers, wires and sizes of buckets, what follows has the same bits as if it had not been interrupted.
/// Otherwise, and between DASO and DataParallel, the weights and the optimizer's state become the mean over the ranks
/// that wrote, what was under way is dropped, and each rank keeps its generator. Phases are the file's unless the
/// options ask for others than those of the training that wrote it, so that it can go on for more epochs; what
/// DataParallel wrote begins them. Collective. Throws IoError on all ranks, naming the file, where it is missing,
/// damaged, or of another module or optimizer; weights and buffers are then as before.
Resumed load_checkpoint(const std::string& path, DASO& daso);
Resumed load_checkpoint(const std::string& path, Replica& replica, torch::optim::Optimizer& optimizer);

}  // namespace heatpp::nn
