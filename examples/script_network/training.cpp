// Trains a network from Python on all ranks, and writes its weights and outputs for Python.
//     script_training <folder> network.pt2      of torch.export; or network.pt, of TorchScript
// with training-*.h5 and test.h5 in the folder, as network.py makes them.

#include <fmt/format.h>
#include <heatpp/comm/environment.hpp>
#include <heatpp_nn/models/loaded_module.hpp>
#include <heatpp_nn/training/safetensors.hpp>
#include <heatpp_nn/training/trainer.hpp>
#include <torch/optim/adamw.h>

namespace nn = heatpp::nn;

namespace {

int train(int argc, char** argv) {
  if (argc != 3)
    throw heatpp::ValueError("[script_training] got other arguments; expected a folder and the network's name in it");
  const std::string folder = argv[1], network = argv[2];
  nn::DataParallelMultiGPU model(nn::load_module(folder + "/" + network), heatpp::Topology(heatpp::world()));
  torch::optim::AdamW adamw(model.parameters(), torch::optim::AdamWOptions(5e-3));
  nn::Trainer trainer(
      model, adamw, [](const at::Tensor& outputs, const at::Tensor& targets) { return at::mse_loss(outputs, targets); },
      {.epochs = 8, .batch_size = 32, .daso = nn::DasoOptions{}, .phases = {.warmup = 0.2, .cooldown = 0.2}});
  trainer.fit(nn::Dataset::from_hdf5(folder + "/training-*.h5"));

  const auto test = nn::Dataset::from_hdf5(folder + "/test.h5");
  const auto loss = trainer.evaluate(test).loss;
  nn::predict_hdf5(nn::Network(model), folder + "/test.h5", folder + "/outputs.h5");
  nn::save_safetensors(folder + "/trained.safetensors", model.module());
  if (heatpp::world().rank() > 0) return 0;
  model.module().save_network(folder + "/trained" + network.substr(network.rfind('.')));
  fmt::print("mean squared error {:.6f}\n", loss);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return heatpp::run(argc, argv, train); }
