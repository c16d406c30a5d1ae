#include <heatpp_nn/optim/lamb.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/optim/detail/adam_step.hpp>
#include <heatpp_nn/optim/detail/squares.hpp>
#include <heatpp_nn/parallel/replica.hpp>

#include <ATen/ATen.h>

#include <cmath>

namespace heatpp::nn {
namespace {

std::unique_ptr<LambOptions> checked(LambOptions options) {
  const auto share = [](double beta) { return beta >= 0 && beta < 1; };
  if (!(options.lr() >= 0 && share(options.beta1()) && share(options.beta2()) && options.eps() >= 0 &&
        options.weight_decay() >= 0))
    heatpp::detail::raise<ValueError>(
        "Lamb", "got the rate {}, betas {} and {}, eps {} and decay {}; expected at least 0, and betas below 1",
        options.lr(), options.beta1(), options.beta2(), options.eps(), options.weight_decay());
  return std::make_unique<LambOptions>(options);
}

/// Calls `f` for each option, to write it to an archive or to read it.
template <class Options, class F>
void for_lamb_fields(Options& options, F f) {
  f("lr", options.lr());
  f("beta1", options.beta1());
  f("beta2", options.beta2());
  f("eps", options.eps());
  f("weight_decay", options.weight_decay());
  f("adapt", options.adapt());
}

}  // namespace

void LambOptions::serialize(torch::serialize::OutputArchive& archive) const {
  for_lamb_fields(*this, detail::WriteTo{archive});
}

void LambOptions::serialize(torch::serialize::InputArchive& archive) {
  for_lamb_fields(*this, detail::ReadFrom{archive});
}

Lamb::Lamb(std::vector<at::Tensor> parameters, LambOptions options)
    : Lamb(Groups{torch::optim::OptimizerParamGroup(std::move(parameters))}, options) {}
Lamb::Lamb(Groups groups, LambOptions options) : LayerwiseOptimizer(std::move(groups), checked(options), nullptr) {}
Lamb::Lamb(const Replica& replica, LambOptions options)
    : Lamb(replica, {torch::optim::OptimizerParamGroup(replica.parameters())}, options) {}
Lamb::Lamb(const Replica& replica, Groups groups, LambOptions options)
    : LayerwiseOptimizer(std::move(groups), checked(options), &replica) {}

/// Stores the step in the memory of the gradient, which is not needed after the moments are updated.
LayerwiseOptimizer::Squares Lamb::prepare(const at::Tensor& tensor, const Options& options) {
  const auto& o = static_cast<const LambOptions&>(options);
  auto& state = state_of<LambState>(tensor);
  if (!state.exp_avg().defined()) {
    state.exp_avg(at::zeros_like(tensor));
    state.exp_avg_sq(at::zeros_like(tensor));
  }
  state.step(state.step() + 1);
  auto step = tensor.grad();
  detail::adam_direction(step, state.exp_avg(), state.exp_avg_sq(), state.step(), {o.beta1(), o.beta2(), o.eps()});
  step.add_(tensor, o.weight_decay());
  if (!o.adapt()) return {};
  return {detail::squares(tensor), detail::squares(step)};
}

void Lamb::advance(const at::Tensor& tensor, const Options& options, const Squares& whole) {
  const auto& o = static_cast<const LambOptions&>(options);
  const bool adapts = o.adapt() && whole.weights > 0 && whole.step > 0;
  const auto rate = adapts ? o.lr() * std::sqrt(whole.weights / whole.step) : o.lr();
  at::Tensor(tensor).sub_(tensor.grad(), rate);
}

}  // namespace heatpp::nn
