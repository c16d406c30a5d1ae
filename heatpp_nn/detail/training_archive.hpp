#pragma once

#include <heatpp_nn/daso.hpp>

namespace torch::serialize {
class InputArchive;
class OutputArchive;
}  // namespace torch::serialize

namespace heatpp::nn::detail {

/// What a checkpoint holds besides the weights and the optimizer.
struct Training {
  DasoState daso;
  std::int64_t epoch = 0;
  std::uint32_t checksum = 0;  ///< of the weights and buffers
  at::Tensor generators;       ///< (ranks, bytes): LibTorch's random number generator of each rank
};

void write(torch::serialize::OutputArchive& archive, const Training& training);
/// Throws std::exception for an archive that holds something else.
[[nodiscard]] Training read_training(torch::serialize::InputArchive& archive);

/// The generators of all ranks. Collective.
[[nodiscard]] at::Tensor gather_generators(const Communicator& comm);
/// Sets this rank's generator; does nothing where the states are of another number of ranks.
void restore_generator(const Communicator& comm, const at::Tensor& generators);

}  // namespace heatpp::nn::detail
