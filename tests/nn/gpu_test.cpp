// Training on GPUs, if the machine has any: the ranks of a node use its GPUs in turn.
#include "scratch_file.hpp"
#include "training.hpp"

#include <heatpp_nn/training/checkpoint.hpp>
#include <heatpp_nn/training/inference.hpp>

using namespace heatpp::nn;

namespace {

/// Returns the weights after a few batches, on the host.
std::vector<at::Tensor> train(const ht::Topology& topology, const at::Device& device, const DasoOptions& options) {
  const auto net = std::make_shared<SmallNet>(at::kFloat);
  net->to(device);
  DataParallelMultiGPU model(net, topology);
  torch::optim::SGD sgd(model.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  DASO daso(model, sgd, options);
  for (std::int64_t b = 0; b < 12; ++b) {
    daso.zero_grad();
    const auto [x, y] = my_batch(b, 4);
    torch::mse_loss(model(x.to(device, at::kFloat)), y.to(device, at::kFloat)).backward();
    daso.step(1.0);
  }
  daso.drain();
  std::vector<at::Tensor> host;
  for (const auto& parameter : net->parameters()) host.push_back(parameter.detach().cpu());
  return host;
}

}  // namespace

TEST_CASE("GPUs train as processors do", "[nn][gpu]") {
  if (!at::hasCUDA()) {
    WARN("this machine has no GPU, or LibTorch is used without CUDA: nothing was compared");
    return;
  }
  const auto gpus = at::detail::getCUDAHooks().deviceCount();
  for (const auto& topology : topologies()) {
    const at::Device gpu(at::kCUDA, static_cast<c10::DeviceIndex>(topology.node().rank() % gpus));
    for (const auto wire : {ht::Wire::float32, ht::Wire::bfloat16}) {
      const DasoOptions options{.phases = {.warmup = 3}, .interval = {.first = {2, 1}}, .wire = wire};

      const auto on_gpu = train(topology, gpu, options);

      CHECK(distance(on_gpu, train(topology, at::kCPU, options)) < (wire == ht::Wire::float32 ? 1e-5 : 1e-2));
    }
  }
}

TEST_CASE("random numbers of a GPU continue from a checkpoint, and frozen networks stay on their device", "[nn][gpu]") {
  if (!at::hasCUDA()) {
    WARN("this machine has no GPU, or LibTorch is used without CUDA: nothing was compared");
    return;
  }
  const ScratchFile scratch{scratch_path("nn_gpu_test")};
  const ht::Topology topology(ht::world());
  const auto gpus = at::detail::getCUDAHooks().deviceCount();
  const at::Device gpu(at::kCUDA, static_cast<c10::DeviceIndex>(topology.node().rank() % gpus));
  const auto net = std::make_shared<SmallNet>(at::kFloat), frozen = std::make_shared<SmallNet>(at::kFloat);
  net->to(gpu);
  frozen->to(gpu);
  for (auto& parameter : frozen->parameters()) parameter.requires_grad_(false);
  DataParallel model(net, topology), other(frozen, topology);
  torch::optim::SGD sgd(model.parameters(), 0.1);
  const auto options = at::TensorOptions(at::kFloat).device(gpu);
  (void)at::rand({3}, options);

  save_checkpoint(scratch.path, model, sgd);
  const auto expected = at::rand({3}, options);
  (void)load_checkpoint(scratch.path, model, sgd);

  CHECK(equals(at::rand({3}, options), expected));
  CHECK(Network(other).device() == gpu);
}
