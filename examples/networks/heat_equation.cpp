// A physics-informed network for u_t = 0.1 u_xx between walls at 0, from u(x, 0) = sin(pi x). LBFGS trains it on points
// where the equation must hold, and it is compared with the exact solution.

#include <fmt/format.h>
#include <heatpp/comm/environment.hpp>
#include <heatpp/interop/torch.hpp>
#include <heatpp_nn/training/trainer.hpp>
#include <torch/autograd.h>
#include <torch/nn.h>
#include <torch/optim/lbfgs.h>

#include <cmath>
#include <numbers>

namespace ht = heatpp;
namespace nn = heatpp::nn;

namespace {

constexpr double pi = std::numbers::pi, conduction = 0.1;

at::Tensor exact(const at::Tensor& x, const at::Tensor& t) {
  return (pi * x).sin() * (-conduction * pi * pi * t).exp();
}

at::Tensor derivative(const at::Tensor& of, const at::Tensor& by) {
  return torch::autograd::grad({of.sum()}, {by}, {}, std::nullopt, /*create_graph=*/true)[0];
}

/// Returns u and the residual of the equation. The values at the walls and at the start are exact by construction.
struct Heat : torch::nn::Module {
  torch::nn::Sequential net = register_module(
      "net", torch::nn::Sequential(torch::nn::Linear(2, 16), torch::nn::Tanh(), torch::nn::Linear(16, 1)));
  Heat() { to(at::kDouble); }

  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& rows) {
    const auto points = rows.detach().requires_grad_();
    const auto x = points.narrow(1, 0, 1), t = points.narrow(1, 1, 1);
    const auto u = (pi * x).sin() + t * x * (1 - x) * net->forward(points);
    const auto slopes = derivative(u, points);
    const auto curved = derivative(slopes.narrow(1, 0, 1), points).narrow(1, 0, 1);
    return {u, slopes.narrow(1, 1, 1) - conduction * curved};
  }
};

/// Returns points of space and time, equal on any number of ranks, with the exact solution there.
nn::Dataset points(std::int64_t count, std::uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  const auto all = at::rand({count, 2}, generator, at::kDouble);
  const ht::Layout cut({count}, 0, ht::world().size());
  const auto mine = all.narrow(0, cut.offset(ht::world().rank()), cut.count(ht::world().rank())).contiguous();
  return {ht::from_local(mine, {.split = 0}),
          ht::from_local(exact(mine.narrow(1, 0, 1), mine.narrow(1, 1, 1)), {.split = 0})};
}

int train(int, char**) {
  torch::manual_seed(1);
  nn::DataParallel model(std::make_shared<Heat>(), ht::Topology(ht::world()));
  torch::optim::LBFGS lbfgs(model.parameters(), torch::optim::LBFGSOptions(1).line_search_fn("strong_wolfe"));
  const auto loss = [](const nn::Tensors& outputs, const at::Tensor&) { return outputs[1].square().mean(); };
  const auto squares = [](const nn::Tensors& outputs, const at::Tensor& wanted) {
    return at::mse_loss(outputs[0], wanted).item<double>();
  };
  nn::Trainer trainer(model, lbfgs, loss, {.epochs = 10, .batch_size = 256, .metrics = {{"squares", squares}}});
  const auto found = trainer.fit(points(256, 1), points(200, 2)).epochs.back().validation.value();
  const auto error = std::sqrt(found.metrics.at("squares"));
  if (ht::world().rank() == 0) fmt::print("residual {:.1e}, L2 error {:.1e}\n", std::sqrt(found.loss), error);
  return error < 2e-3 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return ht::run(argc, argv, train); }
