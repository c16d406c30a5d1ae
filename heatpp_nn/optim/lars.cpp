#include <heatpp_nn/optim/lars.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/optim/detail/squares.hpp>
#include <heatpp_nn/parallel/replica.hpp>

#include <torch/serialize.h>

#include <cmath>

namespace heatpp::nn {
namespace {

std::unique_ptr<LarsOptions> checked(LarsOptions options) {
  if (!(options.lr() >= 0 && options.momentum() >= 0 && options.weight_decay() >= 0 && options.trust() > 0))
    heatpp::detail::raise<ValueError>(
        "Lars", "got the rate {}, momentum {}, decay {} and trust {}; expected at least 0, and trust above",
        options.lr(), options.momentum(), options.weight_decay(), options.trust());
  return std::make_unique<LarsOptions>(options);
}

/// Calls `f` for each option, to write it to an archive or to read it.
template <class Options, class F>
void for_lars_fields(Options& options, F f) {
  f("lr", options.lr());
  f("momentum", options.momentum());
  f("weight_decay", options.weight_decay());
  f("trust", options.trust());
  f("adapt", options.adapt());
}

}  // namespace

void LarsOptions::serialize(torch::serialize::OutputArchive& archive) const {
  for_lars_fields(*this, detail::WriteTo{archive});
}

void LarsOptions::serialize(torch::serialize::InputArchive& archive) {
  for_lars_fields(*this, detail::ReadFrom{archive});
}

Lars::Lars(std::vector<at::Tensor> parameters, LarsOptions options)
    : Lars(Groups{torch::optim::OptimizerParamGroup(std::move(parameters))}, options) {}
Lars::Lars(Groups groups, LarsOptions options) : LayerwiseOptimizer(std::move(groups), checked(options), nullptr) {}
Lars::Lars(const Replica& replica, LarsOptions options)
    : Lars(replica, {torch::optim::OptimizerParamGroup(replica.parameters())}, options) {}
Lars::Lars(const Replica& replica, Groups groups, LarsOptions options)
    : LayerwiseOptimizer(std::move(groups), checked(options), &replica) {}

LayerwiseOptimizer::Squares Lars::prepare(const at::Tensor& tensor, const Options& options) {
  if (!static_cast<const LarsOptions&>(options).adapt()) return {};
  return {detail::squares(tensor), detail::squares(tensor.grad())};
}

void Lars::advance(const at::Tensor& tensor, const Options& options, const Squares& whole) {
  const auto& o = static_cast<const LarsOptions&>(options);
  const auto weights = std::sqrt(whole.weights), gradient = std::sqrt(whole.step);
  const bool adapts = o.adapt() && weights > 0 && gradient > 0;
  const auto rate = adapts ? o.lr() * o.trust() * weights / (gradient + o.weight_decay() * weights) : o.lr();
  auto& velocity = state_of<LarsState>(tensor).momentum();
  if (!velocity.defined()) velocity = at::zeros_like(tensor);
  velocity.mul_(o.momentum()).add_(tensor.grad(), rate).add_(tensor, rate * o.weight_decay());
  at::Tensor(tensor).sub_(velocity);
}

}  // namespace heatpp::nn
