// Reads a network's weights and an array of every dtype from files that Python wrote, and writes them again; runs
// heatpp's networks with weights from Python; writes events for TensorBoard.
//     python_peer <folder>

#include <heatpp/comm/environment.hpp>
#include <heatpp_io/safetensors/safetensors.hpp>
#include <heatpp/interop/torch.hpp>
#include <heatpp_nn/logging/tensorboard.hpp>
#include <heatpp_nn/models/resnet.hpp>
#include <heatpp_nn/models/unet.hpp>
#include <heatpp_nn/training/safetensors.hpp>
#include <torch/nn/modules.h>

#include <iostream>

namespace ht = heatpp;

namespace {

/// The network of python_peer.py.
struct Net : torch::nn::Module {
  torch::nn::Sequential features{register_module(
      "features", torch::nn::Sequential(torch::nn::Conv2d(1, 3, 3), torch::nn::BatchNorm2d(3), torch::nn::ReLU()))};
  torch::nn::Linear classifier{register_module("classifier", torch::nn::Linear(12, 5))};
};

std::optional<int> split_of(const std::string& name) { return name == "scalar" ? std::nullopt : std::optional(0); }

void convert_arrays(const std::string& folder) {
  const auto source = folder + "/arrays.safetensors";
  std::vector<ht::io::NamedArray> arrays;
  for (const auto& name : ht::io::safetensors_names(source))
    arrays.emplace_back(name, ht::io::load_safetensors(source, name, {.split = split_of(name)}));
  ht::io::save_safetensors(arrays, folder + "/arrays-back.safetensors", {.metadata = {{"by", "heatpp"}}});
}

/// Writes outputs of networks for inputs and weights from Python, in eval and in train mode.
void apply_networks(const std::string& folder) {
  const auto apply = [&](const std::string& name, auto net) {
    const auto inputs = ht::io::load_safetensors(folder + "/inputs.safetensors", name).larray();
    ht::nn::load_safetensors(folder + "/" + name + ".safetensors", *net);
    const at::NoGradGuard no_grad;
    net->eval();
    const auto eval = net->forward(inputs);
    net->train();
    ht::io::save_safetensors({{"eval", ht::from_tensor(eval)}, {"train", ht::from_tensor(net->forward(inputs))}},
                             folder + "/" + name + "-outputs.safetensors");
  };
  if (!std::filesystem::exists(folder + "/inputs.safetensors")) return;
  apply("resnet18", ht::nn::resnet18(10));
  apply("resnet50", ht::nn::resnet50());
  apply("unet",
        std::make_shared<ht::nn::UNet>(ht::nn::UNetOptions{.inputs = 2, .width = 4, .depth = 2, .periodic = true}));
}

void write_events(const std::string& folder) {
  ht::nn::TensorBoardWriter events(ht::world(), folder + "/events");
  for (int step = 0; step < 3; ++step) events.scalar("loss", 1.0 / (1 << step), step);
  events.histogram("weights", torch::arange(100), 2);
  events.image("picture", torch::arange(24, torch::kByte).view({3, 2, 4}) * 10, 2);
  events.flush();
}

}  // namespace

int main(int argc, char** argv) {
  ht::Environment environment(argc, argv);
  const std::string folder = argv[argc - 1];
  try {
    Net net;
    ht::nn::load_safetensors(folder + "/weights.safetensors", net);
    ht::nn::save_safetensors(folder + "/weights-back.safetensors", net);
    convert_arrays(folder);
    apply_networks(folder);
    write_events(folder);
  } catch (const ht::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
