// A Fourier neural operator (Li et al. 2021) with complex weights learns the evolution of a periodic field by Burgers'
// equation u_t + u u_x = 0.1 u_xx over a time of 1. It is compared with the exact solution (Hopf, Cole).

#include <fmt/format.h>
#include <heatpp/comm/environment.hpp>
#include <heatpp/interop/torch.hpp>
#include <heatpp_nn/training/trainer.hpp>
#include <torch/nn.h>
#include <torch/optim/adam.h>

#include <cmath>

namespace ht = heatpp;
namespace nn = heatpp::nn;

constexpr std::int64_t points = 64, modes = 16, width = 16;

/// Multiplies the lowest modes, and adds a linear layer at each point, for fields of (rows, points, width).
struct Layer : torch::nn::Module {
  at::Tensor weight = register_parameter("weight", at::randn({width, width, modes}, at::kComplexFloat) / width);
  torch::nn::Linear local = register_module("local", torch::nn::Linear(width, width));
  at::Tensor forward(const at::Tensor& u) {
    const auto products = at::einsum("rki,iok->rko", {at::fft_rfft(u, std::nullopt, 1).narrow(1, 0, modes), weight});
    return at::gelu(at::fft_irfft(products, points, 1) + local(u));
  }
};

/// Returns u = -0.2 p_x / p, where p = exp(-5 integral(u)) follows the heat equation p_t = 0.1 p_xx.
at::Tensor solved(const at::Tensor& u) {
  const auto k = at::arange(points / 2 + 1, at::kDouble), zero = at::zeros_like(k);
  const auto integral = at::fft_irfft(at::fft_rfft(u) / at::complex(zero, k.clamp_min(1)), points);
  const auto p = at::fft_rfft((-5 * integral).exp()) * (-0.1 * k * k).exp();
  return -0.2 * at::fft_irfft(at::complex(zero, k) * p, points) / at::fft_irfft(p, points);
}

/// Returns random sums of four waves, and the position of each value. They do not depend on the number of ranks.
nn::Dataset fields(std::int64_t count, std::uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  const ht::Layout cut({count}, 0, ht::world().size());
  const auto waves = at::randn({count, 4, 2}, generator, at::kDouble) * (0.2 * points);
  const auto mine = at::view_as_complex(waves.narrow(0, cut.offset(ht::world().rank()), cut.count(ht::world().rank())));
  const auto u = at::fft_irfft(at::constant_pad_nd(mine, {1, 0}), points), x = at::linspace(-1, 1, points).expand_as(u);
  return {ht::from_local(at::stack({u, x}, 2).to(at::kFloat), {.split = 0}),
          ht::from_local(solved(u).unsqueeze(2).to(at::kFloat), {.split = 0})};
}

int train(int, char**) {
  torch::manual_seed(1);
  const torch::nn::Sequential net(torch::nn::Linear(2, width), std::make_shared<Layer>(), std::make_shared<Layer>(),
                                  std::make_shared<Layer>(), torch::nn::Linear(width, 1));
  nn::DataParallel model(net, ht::Topology(ht::world()));
  torch::optim::Adam adam(model.parameters());
  const auto rate = [](const nn::TrainingLength& all) { return nn::cosine_rate({.rate = 5e-3, .length = all.total}); };
  const auto squares = [](const at::Tensor&, const at::Tensor& u) { return u.square().mean().item<double>(); };
  nn::Trainer trainer(model, adam, "mse", {.epochs = 30, .rate = rate, .metrics = {{"squares", squares}}});
  const auto found = trainer.fit(fields(512, 1), fields(64, 2)).epochs.back().validation.value();
  const auto error = std::sqrt(found.loss / found.metrics.at("squares"));
  if (ht::world().rank() == 0) fmt::print("relative L2 error {:.3f}\n", error);
  return error < 0.05 ? 0 : 1;
}

int main(int argc, char** argv) { return ht::run(argc, argv, train); }
