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

/// Returns the bytes of an archive, or the archive of bytes, on the CPU.
[[nodiscard]] std::string saved(torch::serialize::OutputArchive& archive);
[[nodiscard]] torch::serialize::InputArchive opened(std::string_view bytes);

/// The head of a rank's section: the state of its training, and what its body contains.
struct RankState {
  DasoState daso;  ///< without its memory; empty without DASO
  Position position;
  at::Tensor generator;  ///< state of LibTorch's random number generator
  Extras extras;
  std::vector<std::int64_t> kind;  ///< kind of DASO, as `DASO::kind`; empty without DASO
  std::string structure;           ///< names, dtypes and shapes of the module's tensors
  std::string optimizer;           ///< name of its class
  std::string options;             ///< its options, by groups
  std::vector<PieceRow> rows;      ///< pieces at the start of the body
  /// The memory of DASO, or of the gradients' wires, which follows: a dtype and a number of elements for each tensor.
  std::vector<std::int64_t> memory = {};
  at::Tensor device_generator = {};  ///< that of the network's GPU; undefined on the CPU, and in older files
};

[[nodiscard]] std::string to_head(const RankState& state);
/// Reads the head of a section. Throws std::exception for bytes that contain something else.
[[nodiscard]] RankState rank_state(std::string_view head);

/// Returns the `memory` table of tensors with one axis.
[[nodiscard]] std::vector<std::int64_t> table_of(const std::vector<at::Tensor>& memory);
/// Returns the number of bytes of these tensors.
[[nodiscard]] std::size_t bytes_of(const std::vector<std::int64_t>& table);
/// Takes the tensors at the start of `bytes` and removes their bytes. Throws std::exception if `bytes` is too short.
[[nodiscard]] std::vector<at::Tensor> memory_in(std::string_view& bytes, const std::vector<std::int64_t>& table);

/// The end of the body.
struct Rest {
  std::vector<at::Tensor> buffers;    ///< of the module
  Extras frozen = {};                 ///< the frozen parameters that this rank writes, by number
  std::vector<at::Tensor> mean = {};  ///< running means of the floating buffers, if there are any
};
[[nodiscard]] at::Tensor to_rest(const Rest& rest);
[[nodiscard]] Rest rest_of(std::string_view bytes);

/// The state of the loop of a Trainer, in addition to the position.
struct LoopState {
  EpochLoss losses = {};  ///< losses of the epoch so far, over all ranks
  std::int64_t batch = 0;
  EarlyStopping::State early = {};
  GradScaler::State scale = {};
  double least = 0;  ///< smallest validation loss; NaN: none so far
};
[[nodiscard]] at::Tensor to_tensor(const LoopState& state);
/// Reads the state of a loop. Returns nullopt if the tensor is not such a state.
[[nodiscard]] std::optional<LoopState> loop_state(const at::Tensor& tensor);
/// Returns the state for other options. A stopped training stays stopped only if these would stop it, too.
[[nodiscard]] EarlyStopping::State going_on(EarlyStopping::State state, const std::optional<PlateauOptions>& stop);

/// Returns the options of an optimizer's groups.
[[nodiscard]] std::string options_of(const torch::optim::Optimizer& optimizer);
/// Sets the options of an optimizer's groups. Throws std::exception if they are those of another optimizer.
void set_options(torch::optim::Optimizer& optimizer, const std::string& options);

/// Throws std::exception if numbers of tensors, shapes or dtypes differ.
void check_alike(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from);
/// Copies each tensor into the one of the other list. Throws as check_alike.
void copy_all(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from);

}  // namespace heatpp::nn::detail
