// The time of a training step of networks of torch.export beside the same networks as TorchScript, in turns.
//     heatpp_exported <folder> <rounds> <name>...     with <name>.pt2, <name>.pt and <name>.input.pt in the folder

#include <fmt/format.h>
#include <heatpp/comm/environment.hpp>
#include <heatpp_nn/models/loaded_module.hpp>
#include <heatpp_nn/parallel/data_parallel.hpp>
#include <torch/optim/adam.h>
#include <torch/script.h>

#include <algorithm>
#include <chrono>

namespace ht = heatpp;

namespace {

/// A network with its optimizer.
class Training {
 public:
  explicit Training(const std::string& path)
      : model_(ht::nn::load_module(path), ht::Topology(ht::world())), adam_(model_.parameters(), 1e-4) {
    model_.module().train();
  }
  /// In seconds.
  double step(const at::Tensor& x) {
    const auto begin = std::chrono::steady_clock::now();
    adam_.zero_grad();
    model_(x).square().mean().backward();
    model_.step(adam_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  ht::nn::DataParallel<ht::nn::LoadedModule> model_;
  torch::optim::Adam adam_;
};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

void compare(const std::string& folder, const std::string& name, int rounds) {
  const auto path = folder + "/" + name;
  const auto x = torch::jit::load(path + ".input.pt").attr("x").toTensor();
  Training exported(path + ".pt2"), scripted(path + ".pt");
  std::vector<double> ours, theirs;
  for (int round = -5; round < rounds; ++round) {  // the first are for caches, and for TorchScript to optimise
    const auto one = exported.step(x), other = scripted.step(x);
    if (round < 0) continue;
    ours.push_back(one);
    theirs.push_back(other);
  }
  if (ht::world().rank() > 0) return;
  fmt::print("| {} | {:.3f} | {:.3f} | {:.3f} |\n", name, 1e3 * median(ours), 1e3 * median(theirs),
             median(ours) / median(theirs));
}

}  // namespace

int main(int argc, char** argv) {
  return ht::run(argc, argv, [&] {
    if (ht::world().rank() == 0)
      fmt::print("| network | exported, ms | TorchScript, ms | ratio |\n|---|---|---|---|\n");
    for (int i = 3; i < argc; ++i) compare(argv[1], argv[i], std::stoi(argv[2]));
  });
}
