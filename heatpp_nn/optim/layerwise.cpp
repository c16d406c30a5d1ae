#include <heatpp_nn/optim/layerwise.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/parallel/replica.hpp>

namespace heatpp::nn {

LayerwiseOptimizer::LayerwiseOptimizer(Groups groups, std::unique_ptr<Options> defaults, const Replica* replica)
    : Optimizer(std::move(groups), std::move(defaults)), replica_(replica) {}

at::Tensor LayerwiseOptimizer::step(LossClosure closure) {
  at::Tensor loss;
  if (closure) {
    const at::AutoGradMode grad(true);
    loss = closure();
  }
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> tensors;
  std::vector<const Options*> options;
  std::vector<double> squares;
  for (const auto& group : param_groups())
    for (const auto& tensor : group.params()) {
      if (!tensor.grad().defined()) continue;
      tensors.push_back(tensor);
      options.push_back(&group.options());
      const auto mine = prepare(tensor, group.options());
      squares.insert(squares.end(), {mine.weights, mine.step});
    }
  complete(tensors, squares);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    advance(tensors[i], *options[i], {squares[2 * i], squares[2 * i + 1]});
  return loss;
}

void LayerwiseOptimizer::complete(std::span<const at::Tensor> tensors, std::span<double> squares) {
  if (replica_) replica_->add_up_pieces(tensors, squares, 2);
}

// Checkpoints save all through `OptimizerKind`.
void LayerwiseOptimizer::save(torch::serialize::OutputArchive&) const {
  heatpp::detail::raise<TypeError>("save", "got a layer-wise optimizer; expected save_checkpoint in place of it");
}
void LayerwiseOptimizer::load(torch::serialize::InputArchive&) {
  heatpp::detail::raise<TypeError>("load", "got a layer-wise optimizer; expected load_checkpoint in place of it");
}

}  // namespace heatpp::nn
