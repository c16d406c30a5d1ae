// A GAN on all ranks: two networks, each with its own optimizer, are trained in turn until the generated points have
// the distribution of the data: a mean of (2, -1) and a standard deviation of 1/2. Each rank draws its own rows.

#include <fmt/format.h>
#include <heatpp/comm/environment.hpp>
#include <heatpp_nn/parallel/data_parallel.hpp>
#include <torch/autograd.h>
#include <torch/nn.h>
#include <torch/optim/adam.h>

namespace ht = heatpp;
namespace nn = heatpp::nn;

at::Tensor data(std::int64_t rows) { return at::randn({rows, 2}) * 0.5 + at::tensor({2.0F, -1.0F}); }

/// Returns a penalty on slopes of the scores at the data, against oscillations (Mescheder et al. 2018).
at::Tensor penalty(const at::Tensor& scores, const at::Tensor& real) {
  return 0.5 * torch::autograd::grad({scores.sum()}, {real}, {}, std::nullopt, true)[0].square().sum(1).mean();
}

int train(int, char**) {
  const ht::Topology topology(ht::world());
  torch::manual_seed(1);
  nn::DataParallel generator(torch::nn::Linear(2, 2), topology);
  nn::DataParallel discriminator(
      torch::nn::Sequential(torch::nn::Linear(2, 16), torch::nn::Tanh(), torch::nn::Linear(16, 1)), topology);
  const auto options = torch::optim::AdamOptions(0.01).betas({0.0, 0.9});
  torch::optim::Adam g_step(generator.parameters(), options), d_step(discriminator.parameters(), options);

  torch::manual_seed(100 + static_cast<std::uint64_t>(ht::world().rank()));
  const auto rows = std::max(1, 128 / ht::world().size());
  for (int step = 0; step < 600; ++step) {
    const auto real = data(rows).requires_grad_(), fake = generator(at::randn({rows, 2}));
    const auto scores = discriminator(real);
    d_step.zero_grad();
    (at::softplus(-scores).mean() + penalty(scores, real) + at::softplus(discriminator(fake.detach())).mean())
        .backward();
    discriminator.step(d_step);
    g_step.zero_grad();
    {
      const auto guard = discriminator.no_sync();  // this loss passes through the discriminator, but does not train it
      at::softplus(-discriminator(fake)).mean().backward();
    }
    generator.step(g_step);
  }

  const at::NoGradGuard no_grad;
  const auto made = generator(at::randn({4000, 2}));
  const auto mean = made.mean(0), spread = (made - mean).square().mean(0).sqrt();
  const auto off = [](const at::Tensor& found, const at::Tensor& wanted) {
    return (found - wanted).abs().max().item<double>();
  };
  const auto of_mean = off(mean, at::tensor({2.0F, -1.0F})), of_spread = off(spread, at::tensor({0.5F, 0.5F}));
  if (ht::world().rank() == 0) fmt::print("the mean is {:.2f} off, the deviation {:.2f}\n", of_mean, of_spread);
  return of_mean < 0.15 && of_spread < 0.2 ? 0 : 1;
}

int main(int argc, char** argv) { return ht::run(argc, argv, train); }
