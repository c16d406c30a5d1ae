// Reads sharded HDF5, analyses the images on all ranks, and trains a network. The program runs on one process and on
// many.
#include "analytics.hpp"
#include "training.hpp"

#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>
#include <heatpp/comm/environment.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_nn/training/cores.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

namespace ht = heatpp;

namespace {

ht::nn::Dataset load(const std::filesystem::path& folder, const std::string& part) {
  const auto files = (folder / (part + "-*.h5")).string();
  return {ht::io::load_hdf5(files, "images", {.split = 0}),
          ht::io::load_hdf5(files, "labels", {.split = 0, .dtype = ht::int64})};
}

void make_folder(const std::filesystem::path& folder) {
  ht::all_or_none(ht::world(), [&] {
    std::error_code error;
    if (ht::world().rank() == 0) std::filesystem::create_directories(folder, error);
    if (error) throw ht::IoError("[fashion_mnist] got " + error.message() + " for " + folder.string());
  });
}

int run(const std::filesystem::path& data, bool analytics, double wanted, const TrainingOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  make_folder(options.out);
  const auto train = load(data, "train"), test = load(data, "test");
  if (analytics) analyse(train.inputs(), train.targets(), options.out / "pca.npz");
  const ht::Topology topology(ht::world());
  if (ht::world().rank() == 0) std::cout << ht::comm::describe(topology) << std::flush;
  const auto accuracy = train_network(train, test, topology, options);
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (ht::world().rank() == 0) std::printf("test accuracy %.4f after %.1f s\n", accuracy, seconds);
  return accuracy >= wanted ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// Adds options for how nodes are averaged.
void add_daso(CLI::App& app, ht::nn::DasoOptions& daso) {
  using ht::Wire;
  const std::map<std::string, Wire> wires{{"float32", Wire::float32},
                                          {"bfloat16", Wire::bfloat16},
                                          {"int8", Wire::int8},
                                          {"int4", Wire::int4},
                                          {"float4", Wire::float4}};
  const std::map<std::string, ht::nn::Partners> partners{{"all", ht::nn::Partners::all},
                                                         {"pairs", ht::nn::Partners::pairs}};
  app.add_option("--wire", daso.wire, "how weights travel between nodes")->transform(CLI::CheckedTransformer(wires));
  app.add_option("--partners", daso.partners, "the nodes that a node averages its weights with")
      ->transform(CLI::CheckedTransformer(partners));
  app.add_option("--fragments", daso.fragments, "parts in which the weights travel")->capture_default_str();
  app.add_option("--patience", daso.patience, "seconds after which nodes go on without late ones");
  app.add_option("--quorum", daso.quorum, "share of the nodes that do so at least")->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  std::filesystem::path data = "data/fashion_mnist";
  bool analytics = true;
  double wanted = 0;
  TrainingOptions options;
  CLI::App app{"Trains a small convolutional network on Fashion-MNIST with DASO"};
  app.add_option("--data", data, "folder with train-*.h5 and test-*.h5")->capture_default_str();
  app.add_option("--out", options.out, "folder for checkpoint, TensorBoard's events and pictures")
      ->capture_default_str();
  app.add_option("--epochs", options.epochs)->capture_default_str();
  app.add_option("--batch-size", options.batch_size, "on all ranks together")->capture_default_str();
  app.add_option("--learning-rate", options.learning_rate)->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--accuracy", wanted, "fail below this test accuracy")->capture_default_str();
  add_daso(app, options.daso);
  app.add_flag("--analytics,!--no-analytics", analytics, "describe the images first");
  app.add_flag("--resume", options.resume, "go on from the checkpoint in --out");
  CLI11_PARSE(app, argc, argv);
  return ht::run(argc, argv, [&] {
    if (const int cores = ht::nn::share_of_cores(ht::world())) at::set_num_threads(cores);
    return run(data, analytics, wanted, options);
  });
}
