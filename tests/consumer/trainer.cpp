// Exits with 0 if a network that an installed heatpp trains is the same on all ranks and fits a line.
#include <heatpp/comm/environment.hpp>
#include <heatpp_nn/heatpp_nn.hpp>
#include <torch/torch.h>

namespace ht = heatpp;

int main(int argc, char** argv) {
  const ht::Environment env(argc, argv);
  const ht::Topology topology(ht::world());
  ht::nn::DataParallel model(torch::nn::Linear(1, 1), topology);
  torch::optim::SGD optimizer(model.module().parameters(), 0.1);
  const auto x = torch::arange(4, torch::kFloat).unsqueeze(1) / 4 + ht::world().rank();
  for (int step = 0; step < 500; ++step) {
    optimizer.zero_grad();
    torch::mse_loss(model(x), 2 * x + 1).backward();
    model.average_gradients();
    optimizer.step();
  }
  const bool fits = torch::allclose(model(x), 2 * x + 1, 1e-2, 1e-2);
  return fits ? 0 : 1;
}
