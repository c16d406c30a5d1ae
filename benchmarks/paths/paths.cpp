// Makes one call, for scripts/paths: paths sum|load|step FOLDER
#include <torch/nn/modules.h>
#include <torch/optim/sgd.h>

#include <filesystem>
#include <functional>
#include <heatpp/heatpp.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <heatpp_nn/training/trainer.hpp>
#include <iostream>
#include <map>

namespace ht = heatpp;
namespace fs = std::filesystem;

extern "C" {
void __gcov_reset();
void __gcov_dump();
}

namespace {

/// Counts the functions of one call.
void counted(const std::function<void()>& call) {
  __gcov_reset();
  call();
  __gcov_dump();
}

void sum_rows(const fs::path&) {
  const auto x = ht::ones({8, 100'000}, {.split = 0});
  double first = 0;
  counted([&] { first = ht::sum(x, {.axis = 0}).to_vector<float>()[0]; });
  if (first != 8) throw ht::Error("[paths] got another sum than 8");
}

void load_shards(const fs::path& folder) {
  const auto rows = ht::reshape(ht::arange(6000), {1000, 6});
  ht::io::save_hdf5(rows, folder / "part-0.h5", "x");
  ht::io::save_hdf5(rows, folder / "part-1.h5", "x");
  ht::Shape shape;
  counted([&] { shape = ht::io::load_hdf5((folder / "part-*.h5").string(), "x", {.split = 0}).shape(); });
  if (shape != ht::Shape{2000, 6}) throw ht::Error("[paths] got another shape than (2000, 6)");
}

void train_step(const fs::path&) {
  const auto inputs = ht::ones({16, 4}, {.split = 0}), targets = ht::ones({16, 1}, {.split = 0});
  const ht::nn::Dataset rows(inputs, targets);
  ht::nn::DataParallelMultiGPU model(torch::nn::Sequential(torch::nn::Linear(4, 1)).ptr(), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), torch::optim::SGDOptions(0.1));
  ht::nn::Trainer trainer(model, sgd,
                          [](const at::Tensor& got, const at::Tensor& wanted) { return at::mse_loss(got, wanted); },
                          {.batch_size = 16, .daso = ht::nn::DasoOptions{}, .progress = false});
  std::int64_t batches = 0;
  counted([&] { batches = trainer.fit(rows).batches; });
  if (batches != 1) throw ht::Error("[paths] got other numbers of batches than one");
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(const fs::path&)> calls{
      {"sum", sum_rows}, {"load", load_shards}, {"step", train_step}};
  if (argc != 3 || !calls.contains(argv[1])) {
    std::cerr << "[paths] got " << argc - 1 << " arguments; expected sum, load or step, and a folder\n";
    return 2;
  }
  const ht::Environment environment(argc, argv);
  calls.at(argv[1])(argv[2]);
}
