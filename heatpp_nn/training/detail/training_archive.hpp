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
  std::vector<std::int64_t> kind;  ///< of DASO, as `DASO::kind`; empty where none trains
};

/// The section of a rank; `replica` and `optimizer` are written where this rank's are not another's.
[[nodiscard]] std::string to_section(const RankState& state, const torch::nn::Module* module,
                                     const torch::optim::Optimizer* optimizer);
/// Throws std::exception for bytes that hold something else.
[[nodiscard]] RankState rank_state(const std::string& section);
/// Copies the weights into the module's and loads the optimizer's state, to the devices of its parameters. Throws
/// std::exception where names, shapes, dtypes or the kind of optimizer do not fit; the module is then as before.
void load_shared(const std::string& section, torch::nn::Module& module, torch::optim::Optimizer& optimizer);
/// Copies each tensor into the other list's. Throws std::exception where numbers, shapes or dtypes differ.
void copy_all(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from);

}  // namespace heatpp::nn::detail
