#pragma once

#include <heatpp_nn/parallel/daso.hpp>
#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/detail/section_file.hpp>

namespace heatpp::nn::detail {

/// What is saved and loaded; `daso` may be missing.
struct Training {
  Replica& replica;
  torch::optim::Optimizer& optimizer;
  DASO* daso;

  [[nodiscard]] const Communicator& comm() const { return replica.topology().comm(); }
  [[nodiscard]] torch::nn::Module& module() const { return *replica.shared_module(); }
};

/// Takes down what the training needs to go on; what is written are its own tensors. Collective.
[[nodiscard]] SectionWriter begin_checkpoint(const std::string& path, const Training& training,
                                             const Position& position, const Extras& extras);

}  // namespace heatpp::nn::detail
