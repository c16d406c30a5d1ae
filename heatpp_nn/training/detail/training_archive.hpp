#pragma once

#include <heatpp_nn/training/checkpoint.hpp>

namespace heatpp::nn::detail {

/// What a rank puts into a checkpoint besides the weights and the optimizer's state, which ranks may share.
struct RankState {
  DasoState daso;  ///< empty where no DASO trains
  Position position;
  at::Tensor generator;             ///< state of LibTorch's random number generator
  std::vector<at::Tensor> buffers;  ///< of the module
  Extras extras;
};

/// The section of a rank; `replica` and `optimizer` are written where this rank's are not another's.
[[nodiscard]] std::string to_section(const RankState& state, const torch::nn::Module* module,
                                     const torch::optim::Optimizer* optimizer);
/// Throws std::exception for bytes that hold something else.
[[nodiscard]] RankState rank_state(const std::string& section);
/// Loads the weights and the optimizer's state. Throws std::exception where they do not fit.
void load_shared(const std::string& section, torch::nn::Module& module, torch::optim::Optimizer& optimizer);

}  // namespace heatpp::nn::detail
