#pragma once

#include <functional>
#include <heatpp/comm/recovery/recovery.hpp>
#include <heatpp_nn/parallel/daso.hpp>
#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/detail/section_file.hpp>
#include <heatpp_nn/training/detail/weight_mean.hpp>

namespace heatpp::nn::detail {

/// The objects that are saved and loaded; `daso` and `mean` may be nullptr.
struct Training {
  Replica& replica;
  torch::optim::Optimizer& optimizer;
  DASO* daso;
  WeightMean* mean = nullptr;

  [[nodiscard]] const Communicator& comm() const { return replica.topology().comm(); }
  [[nodiscard]] torch::nn::Module& module() const { return *replica.shared_module(); }
  [[nodiscard]] std::span<const at::Tensor> mean_of_parameters() const {
    return mean ? std::span<const at::Tensor>(mean->of_parameters()) : std::span<const at::Tensor>();
  }
  /// Returns which ranks have equal weights now.
  [[nodiscard]] Alike alike() const;
};

/// Collects what the training needs to continue. The writer refers to the training's own tensors. Collective.
[[nodiscard]] SectionWriter begin_checkpoint(const std::string& path, const Training& training,
                                             const Position& position, const Extras& extras);
/// Continues from the file. Collective. Throws as load_checkpoint.
[[nodiscard]] Resumed load(const std::string& path, const Training& training);
/// Returns the ranks that are left of a communicator.
using Remaining = std::function<Communicator(const Communicator& comm)>;
/// Continues on the remaining ranks after others have ended. Collective over these. Throws as the public function.
[[nodiscard]] Resumed continue_without_lost(const Training& training, const Position& position, const Extras& extras,
                                            const Remaining& remaining = survivors);

}  // namespace heatpp::nn::detail
