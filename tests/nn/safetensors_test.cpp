#include "training.hpp"
#include "../io/bytes.hpp"

#include <heatpp_io/safetensors/safetensors.hpp>
#include <heatpp_nn/training/safetensors.hpp>

namespace {

struct Deep : torch::nn::Module {
  torch::nn::Sequential layers{
      register_module("layers", torch::nn::Sequential(torch::nn::Conv2d(2, 4, 3), torch::nn::BatchNorm2d(4)))};
  torch::nn::Linear last{register_module("last", torch::nn::Linear(4, 2))};
  at::Tensor scale{register_parameter("scale", torch::full({}, 2.0, torch::kDouble))};
  at::Tensor mask{register_buffer("mask", torch::tensor({true, false}))};
};

std::vector<at::Tensor> state(const torch::nn::Module& module) {
  std::vector<at::Tensor> all = weights(module);
  for (const auto& buffer : module.buffers()) all.push_back(buffer.clone());
  return all;
}

}  // namespace

TEST_CASE("Weights and buffers come back on all ranks, under PyTorch's names", "[nn][safetensors]") {
  const TempDir dir;
  const auto path = dir.path("net.safetensors");
  torch::manual_seed(1);
  Deep saved;
  saved.last->to(torch::kBFloat16);
  saved.layers->train();
  saved.layers->forward(torch::randn({3, 2, 5, 5}));
  ht::nn::save_safetensors(path, saved);

  torch::manual_seed(10 + ht::world().rank());
  Deep loaded;
  loaded.last->to(torch::kBFloat16);
  ht::nn::load_safetensors(path, loaded);

  CHECK(equal(state(loaded), state(saved)));
  auto names = ht::io::safetensors_names(path);
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"last.bias", "last.weight", "layers.0.bias", "layers.0.weight",
                                          "layers.1.bias", "layers.1.num_batches_tracked", "layers.1.running_mean",
                                          "layers.1.running_var", "layers.1.weight", "mask", "scale"});
  Deep wider;
  ht::nn::load_safetensors(path, wider);
  CHECK(wider.last->weight.scalar_type() == torch::kFloat);
  CHECK(equals(wider.last->weight, saved.last->weight.to(torch::kFloat)));
}

TEST_CASE("A replica's weights go to a file, and into another one's, on its ranks", "[nn][safetensors]") {
  const TempDir dir;
  const auto half = *ht::world().split(ht::world().rank() % 2);
  const auto path = dir.path(std::to_string(ht::world().rank() % 2) + ".safetensors");
  const ht::Topology topology(half);
  const ht::nn::DataParallel saved(std::make_shared<SmallNet>(), topology);
  const ht::nn::DataParallel loaded(std::make_shared<SmallNet>(), topology);
  const at::NoGradGuard no_grad;
  for (auto& parameter : loaded.module().parameters()) parameter.zero_();
  ht::nn::save_safetensors(path, saved);
  ht::nn::load_safetensors(path, loaded);
  CHECK(equal(weights(loaded.module()), weights(saved.module())));
}

TEST_CASE("Weights of complex128 are stored as real and imaginary parts", "[nn][safetensors]") {
  const TempDir dir;
  const auto path = dir.path("net.safetensors");
  const auto values = torch::complex(torch::arange(6.0, torch::kDouble), torch::arange(6.0, torch::kDouble) / 3);
  const auto module_of = [](const at::Tensor& weight) {
    torch::nn::Module module;
    module.register_parameter("weight", weight.clone());
    module.register_buffer("conjugate", weight.view({2, 3}).conj());
    return module;
  };
  ht::nn::save_safetensors(path, module_of(values));

  const auto stored = ht::io::load_safetensors(path, "weight", {.split = std::nullopt});
  CHECK(equals(stored.larray(), torch::view_as_real(values)));
  for (const auto dtype : {torch::kComplexDouble, torch::kComplexFloat}) {
    auto loaded = module_of(torch::zeros(6, dtype));
    ht::nn::load_safetensors(path, loaded);
    CHECK(equals(loaded.parameters().front(), values.to(dtype)));
    CHECK(equals(loaded.buffers().front().resolve_conj(), values.view({2, 3}).conj().resolve_conj().to(dtype)));
  }
  auto real = module_of(torch::zeros(6, torch::kDouble));
  CHECK_THROWS_AS(ht::nn::load_safetensors(path, real), ht::ValueError);
}

TEST_CASE("Weights of another module are refused before anything changes", "[nn][safetensors]") {
  const TempDir dir;
  const auto path = dir.path("net.safetensors");
  ht::nn::save_safetensors(path, SmallNet());
  Deep deep;
  const auto before = state(deep);

  const auto names = same_message<ht::ValueError>([&] { ht::nn::load_safetensors(path, deep); });
  CHECK_THAT(names, Catch::Contains("\"last.bias\"") && Catch::Contains("\"first.bias\""));
  CHECK(equal(state(deep), before));
  ht::nn::load_safetensors(path, deep, {.strict = false});
  CHECK(equal(state(deep), before));

  torch::nn::Module other;
  const auto first = other.register_module("first", torch::nn::Linear(4, 8));
  const auto shape = same_message<ht::ValueError>([&] { ht::nn::load_safetensors(path, other, {.strict = false}); });
  CHECK_THAT(shape, Catch::Contains("\"first.weight\" of shape (8, 5)"));
  CHECK_THROWS_AS(ht::nn::load_safetensors(dir.path("none"), deep), ht::IoError);
  CHECK_THROWS_AS(ht::nn::save_safetensors("/proc/none/x", deep), ht::IoError);
  CHECK(dir.names() == std::vector<std::string>{"net.safetensors"});
}
