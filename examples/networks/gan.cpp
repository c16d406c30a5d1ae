// A GAN on all ranks: two networks with an optimizer each, trained in turn, until what the one makes of noise lies
// where the data lie, around (2, -1). Each rank draws rows of its own.

#include <fmt/format.h>
#include <heatpp/comm/environment.hpp>
#include <heatpp_nn/parallel/data_parallel.hpp>
#include <torch/nn.h>
#include <torch/optim/adam.h>

namespace ht = heatpp;
namespace nn = heatpp::nn;

namespace {

constexpr std::int64_t rows = 128;  // of all ranks

at::Tensor drawn(std::int64_t count) { return at::randn({count, 2}) * 0.5 + at::tensor({2.0F, -1.0F}); }

int train(int, char**) {
  const ht::Topology topology(ht::world());
  torch::manual_seed(1);
  nn::DataParallel generator(torch::nn::Linear(2, 2), topology);
  nn::DataParallel discriminator(
      torch::nn::Sequential(torch::nn::Linear(2, 16), torch::nn::Tanh(), torch::nn::Linear(16, 1)), topology);
  const auto adam = [](double rate, double decay) {
    return torch::optim::AdamOptions(rate).betas({0.0, 0.9}).weight_decay(decay);
  };
  torch::optim::Adam g_step(generator.parameters(), adam(0.01, 0));
  torch::optim::Adam d_step(discriminator.parameters(), adam(0.03, 0.03));

  torch::manual_seed(100 + static_cast<std::uint64_t>(ht::world().rank()));
  const auto own = std::max<std::int64_t>(1, rows / ht::world().size());
  for (int step = 0; step < 600; ++step) {
    const auto fake = generator(at::randn({own, 2}));
    d_step.zero_grad();
    (at::softplus(-discriminator(drawn(own))).mean() + at::softplus(discriminator(fake.detach())).mean()).backward();
    discriminator.step(d_step);
    g_step.zero_grad();
    {
      const auto guard = discriminator.no_sync();  // this loss goes through it, but does not train it
      at::softplus(-discriminator(fake)).mean().backward();
    }
    generator.step(g_step);
  }

  const at::NoGradGuard no_grad;
  const auto made = generator(at::randn({4000, 2}));
  const auto mean = made.mean(0), spread = (made - mean).square().mean(0).sqrt();
  const auto off = (mean - at::tensor({2.0F, -1.0F})).abs().max().item<double>();
  if (ht::world().rank() == 0)
    fmt::print("mean ({:.2f}, {:.2f}), standard deviation ({:.2f}, {:.2f})\n", mean[0].item<double>(),
               mean[1].item<double>(), spread[0].item<double>(), spread[1].item<double>());
  return off < 0.25 && spread.min().item<double>() > 0.1 && spread.max().item<double>() < 1 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return ht::run(argc, argv, train); }
