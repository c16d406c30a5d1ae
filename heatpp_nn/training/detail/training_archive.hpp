#pragma once

#include <heatpp_nn/losses/detail/loss_sums.hpp>
#include <heatpp_nn/optim/learning_rate.hpp>
#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/detail/pieces.hpp>

namespace torch::serialize {
class InputArchive;
class OutputArchive;
}  // namespace torch::serialize

namespace heatpp::nn::detail {

/// The bytes of an archive, and the archive of bytes, on the CPU.
[[nodiscard]] std::string saved(torch::serialize::OutputArchive& archive);
[[nodiscard]] torch::serialize::InputArchive opened(std::string_view bytes);

/// The head of a rank's section: where its training stands, and what its body holds.
struct RankState {
  DasoState daso;  ///< without its memory; empty where no DASO trains
  Position position;
  at::Tensor generator;  ///< state of LibTorch's random number generator
  Extras extras;
  std::vector<std::int64_t> kind;  ///< of DASO, as `DASO::kind`; empty where none trains
  std::string structure;           ///< names, dtypes and shapes of the module's tensors
  std::string optimizer;           ///< its kind
  std::string options;             ///< its options, group by group
  std::vector<PieceRow> rows;      ///< of the pieces with which the body begins
  /// Of the memory of DASO, or of the gradients' wires, which follows: a dtype and a number of elements each.
  std::vector<std::int64_t> memory = {};
  at::Tensor device_generator = {};  ///< the same of the network's GPU; undefined on the CPU, and in older files
};

[[nodiscard]] std::string to_head(const RankState& state);
/// Throws std::exception for bytes that hold something else.
[[nodiscard]] RankState rank_state(std::string_view head);

/// `memory` of tensors without axes but one.
[[nodiscard]] std::vector<std::int64_t> table_of(const std::vector<at::Tensor>& memory);
/// How many bytes these have.
[[nodiscard]] std::size_t bytes_of(const std::vector<std::int64_t>& table);
/// The tensors with which `bytes` begins, which it loses. Throws std::exception where it is too short.
[[nodiscard]] std::vector<at::Tensor> memory_in(std::string_view& bytes, const std::vector<std::int64_t>& table);

/// The end of the body.
struct Rest {
  std::vector<at::Tensor> buffers;    ///< of the module
  Extras frozen = {};                 ///< the frozen parameters that this rank writes, by their numbers
  std::vector<at::Tensor> mean = {};  ///< running means of the floating buffers, if there are any
};
[[nodiscard]] at::Tensor to_rest(const Rest& rest);
[[nodiscard]] Rest rest_of(std::string_view bytes);

/// Where the loop of a Trainer stands, beside the position.
struct LoopState {
  EpochLoss losses = {};  ///< of the epoch so far, over all ranks
  std::int64_t batch = 0;
  EarlyStopping::State early = {};
  GradScaler::State scale = {};
  double least = 0;  ///< validation loss; NaN: none so far
};
[[nodiscard]] at::Tensor to_tensor(const LoopState& state);
/// None for a tensor that is no such state.
[[nodiscard]] std::optional<LoopState> loop_state(const at::Tensor& tensor);
/// The state with which other options go on: a training that was stopped stays so as long as these stop it, too.
[[nodiscard]] EarlyStopping::State going_on(EarlyStopping::State state, const std::optional<PlateauOptions>& stop);

/// The options of an optimizer's groups.
[[nodiscard]] std::string options_of(const torch::optim::Optimizer& optimizer);
/// Throws std::exception where they are those of another optimizer.
void set_options(torch::optim::Optimizer& optimizer, const std::string& options);

/// Throws std::exception where numbers, shapes or dtypes differ.
void check_alike(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from);
/// Copies each tensor into the other list's. Throws the same.
void copy_all(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from);

}  // namespace heatpp::nn::detail
