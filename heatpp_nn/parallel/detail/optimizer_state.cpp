#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>

#include <torch/optim.h>

namespace heatpp::nn::detail {
namespace {

namespace optim = torch::optim;
using Tensors = std::vector<at::Tensor>;

Tensors tensors_of(const optim::SGDParamState& s) { return {s.momentum_buffer()}; }
Tensors tensors_of(const optim::AdamParamState& s) { return {s.exp_avg(), s.exp_avg_sq(), s.max_exp_avg_sq()}; }
Tensors tensors_of(const optim::AdamWParamState& s) { return {s.exp_avg(), s.exp_avg_sq(), s.max_exp_avg_sq()}; }
Tensors tensors_of(const optim::RMSpropParamState& s) { return {s.square_avg(), s.momentum_buffer(), s.grad_avg()}; }
Tensors tensors_of(const optim::AdagradParamState& s) { return {s.sum()}; }

template <class... States>
struct Known {
  static Tensors tensors(const optim::OptimizerParamState& state) {
    Tensors found;
    (void)((try_one<States>(state, found)) || ...);
    return found;
  }

 private:
  template <class S>
  static bool try_one(const optim::OptimizerParamState& state, Tensors& found) {
    const auto* known = dynamic_cast<const S*>(&state);
    if (known) found = tensors_of(*known);
    return known != nullptr;
  }
};
using KnownStates = Known<optim::SGDParamState, optim::AdamParamState, optim::AdamWParamState, optim::RMSpropParamState,
                          optim::AdagradParamState>;

template <class... Optimizers>
bool is_any_of(const optim::Optimizer& optimizer) {
  return ((dynamic_cast<const Optimizers*>(&optimizer) != nullptr) || ...);
}

}  // namespace

void check_optimizer(const optim::Optimizer& optimizer) {
  if (!is_any_of<optim::SGD, optim::Adam, optim::AdamW, optim::RMSprop, optim::Adagrad>(optimizer))
    heatpp::detail::raise<TypeError>(
        "daso", "got an optimizer of an unknown type; expected SGD, Adam, AdamW, RMSprop or Adagrad");
}

Tensors state_tensors(const optim::Optimizer& optimizer) {
  Tensors all;
  for (const auto& group : optimizer.param_groups())
    for (const auto& parameter : group.params()) {
      const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
      if (found == optimizer.state().end()) continue;
      for (auto& tensor : KnownStates::tensors(*found->second))
        if (tensor.defined()) all.push_back(std::move(tensor));
    }
  return all;
}

}  // namespace heatpp::nn::detail
