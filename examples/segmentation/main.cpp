// Finds blobs in noisy fields with a U-Net, trained on all ranks, and measures how well the found blobs match. Writes
// the numbers that examples/plot.py draws.
//     segmentation <data_parallel or daso> <numbers.npz>

#include <fmt/format.h>
#include <heatpp/comm/environment.hpp>
#include <heatpp/interop/torch.hpp>
#include <heatpp_io/numpy/npz.hpp>
#include <heatpp_nn/models/unet.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>
#include <heatpp_nn/training/metrics.hpp>
#include <heatpp_nn/training/trainer.hpp>
#include <torch/optim/adamw.h>

namespace ht = heatpp;
namespace nn = heatpp::nn;

namespace {

constexpr std::int64_t n = 32;

/// Returns fields of noise with three brighter blobs each, and the masks of these; equal on any number of ranks.
nn::Dataset fields(std::int64_t first, std::int64_t count) {
  const ht::Layout cut({count}, 0, ht::world().size());
  std::vector<at::Tensor> inputs, masks;
  for (auto row = cut.offset(ht::world().rank()); row < cut.offset(ht::world().rank() + 1); ++row) {
    auto generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(first + row));
    masks.push_back(at::zeros({1, n, n}));
    for (const auto& blob : at::rand({3, 3}, generator).unbind()) {
      const auto x = at::arange(n) - n * blob[0], y = at::arange(n).unsqueeze(1) - n * blob[1];
      masks.back().masked_fill_(x.square() + y.square() < (3 + 4 * blob[2]).square(), 1);
    }
    inputs.push_back(masks.back() + 0.8 * at::randn({1, n, n}, generator));
  }
  return {ht::from_local(at::stack(inputs), {.split = 0}), ht::from_local(at::stack(masks), {.split = 0})};
}

at::Tensor loss(const at::Tensor& scores, const at::Tensor& masks) {
  return at::binary_cross_entropy_with_logits(scores, masks);
}

int train(int argc, char** argv) {
  if (argc != 3) throw ht::ValueError("[segmentation] got no method and file; expected data_parallel or daso, a file");
  const bool daso = argv[1] == std::string_view("daso");
  const ht::Topology topology(ht::world());
  torch::manual_seed(1);  // the same weights in every run
  nn::DataParallelMultiGPU model(std::make_shared<nn::UNet>(nn::UNetOptions{.width = 8, .depth = 2}), topology);
  nn::synchronise_norms(model.module(), topology, daso ? nn::Scope::node : nn::Scope::all);
  torch::optim::AdamW adamw(model.parameters(), torch::optim::AdamWOptions(5e-3));
  nn::Trainer trainer(model, adamw, loss,
                      {.epochs = 12,
                       .batch_size = 16,
                       .transforms = {nn::random_flip(), nn::random_flip({.axis = -2})},  // also moves the masks
                       .daso = daso ? std::optional(nn::DasoOptions{}) : std::nullopt,
                       .phases = daso ? nn::PhaseShares{.warmup = 0.25, .cooldown = 0.25} : nn::PhaseShares{},
                       .metrics = {{"overlap", nn::intersection_over_union}}});
  const auto test = fields(1000, 64);
  const auto found = trainer.fit(fields(0, 256), test).epochs.back().validation->metrics.at("overlap");
  if (ht::world().rank() == 0) fmt::print("mean intersection over union {:.3f}\n", found);

  const auto scores = trainer.predict(test.inputs());
  ht::io::save_npz({{"fields", test.inputs()}, {"masks", test.targets()}, {"scores", scores}}, argv[2]);
  return found > 0.8 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return ht::run(argc, argv, train); }
