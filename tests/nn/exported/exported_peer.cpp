// Computes and trains the networks of exported_test.py and compares with what Python has written beside them.
//     exported_peer <folder> <name>...

#include <fmt/format.h>
#include <heatpp/comm/environment.hpp>
#include <heatpp/interop/torch.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/safetensors/detail/safetensors_header.hpp>
#include <heatpp_io/safetensors/safetensors.hpp>
#include <heatpp_nn/models/loaded_module.hpp>
#include <heatpp_nn/parallel/data_parallel.hpp>
#include <heatpp_nn/training/safetensors.hpp>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

#include <map>
#include <stdexcept>

namespace ht = heatpp;

namespace {

constexpr std::uint64_t seed = 7;
constexpr double rate = 0.1, tolerance = 1e-6;
constexpr int steps = 3;

using Tensors = std::vector<at::Tensor>;
using Named = std::map<std::string, at::Tensor>;

Named read(const std::string& path) {
  ht::io::detail::FileReader file(path, "exported_peer");
  Named tensors;
  for (const auto& tensor : ht::io::detail::read_safetensors(file, path, "exported_peer").tensors)
    tensors[tensor.name] = ht::io::detail::read_tensor(file, tensor);
  return tensors;
}

/// Returns the tensors "input.0", "input.1", ...
Tensors numbered(const Named& all, const std::string& prefix) {
  Tensors tensors;
  for (auto i = 0; all.contains(fmt::format("{}.{}", prefix, i)); ++i)
    tensors.push_back(all.at(fmt::format("{}.{}", prefix, i)));
  return tensors;
}

void check_near(const std::string& what, const at::Tensor& found, const at::Tensor& expected) {
  const auto wide = expected.is_complex() ? at::kComplexDouble : at::kDouble;
  if (!found.defined() || found.sizes() != expected.sizes() || found.scalar_type() != expected.scalar_type())
    throw std::runtime_error(what + ": another shape or dtype");
  if (expected.numel() == 0) return;
  const auto error = (found.detach().to(wide) - expected.to(wide)).abs().max().item<double>();
  const auto scale = std::max(1.0, expected.to(wide).abs().max().item<double>());
  if (!(error <= tolerance * scale)) throw std::runtime_error(fmt::format("{}: an error of {}", what, error));
}

void check_all(const std::string& what, const Tensors& found, const Tensors& expected) {
  if (found.size() != expected.size()) throw std::runtime_error(what + ": another number of tensors");
  for (std::size_t i = 0; i < found.size(); ++i) check_near(fmt::format("{} {}", what, i), found[i], expected[i]);
}

at::Tensor loss_of(const Tensors& outputs) {
  auto sum = at::zeros({}, at::kDouble);
  for (const auto& output : outputs) sum = sum + output.to(at::kDouble).square().mean();
  return sum;
}

/// Compares one training batch: outputs, gradients and buffers.
void check_batch(const std::string& name, ht::nn::LoadedModule& net, const Named& python) {
  net.train();
  torch::manual_seed(seed);
  const auto outputs = net.forward(numbered(python, "input"));
  check_all(name + ", output", outputs, numbered(python, "output"));
  loss_of(outputs).backward();
  for (const auto& item : net.named_parameters())
    if (const auto found = python.find("gradient." + item.key()); found != python.end())
      check_near(name + ", gradient of " + item.key(), item.value().grad(), found->second);
  for (const auto& item : net.named_buffers())
    if (const auto found = python.find("buffer." + item.key()); found != python.end())
      check_near(name + ", buffer " + item.key(), item.value(), found->second);
}

Tensors evaluated(ht::nn::LoadedModule& net, const Tensors& inputs) {
  const at::NoGradGuard no_grad;
  net.eval();
  return net.forward(inputs);
}

/// Returns this rank's share of the rows of each tensor.
Tensors mine(Tensors tensors) {
  const auto& comm = ht::world();
  for (auto& tensor : tensors) tensor = tensor.tensor_split(comm.size())[static_cast<std::size_t>(comm.rank())];
  return tensors;
}

/// Does training steps in which each rank has a share of the rows.
void train(const std::shared_ptr<ht::nn::LoadedModule>& net, const Tensors& inputs) {
  ht::nn::DataParallel model(net, ht::Topology(ht::world()));
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(rate));
  net->train();
  const auto rows = mine(inputs);
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    model.backward(loss_of(model(rows)), static_cast<double>(rows.front().size(0)));
    model.step(optimizer);
  }
  model.average_buffers();
  if (!model.equal_on_all_ranks()) throw std::runtime_error("weights that differ between ranks");
}

/// Writes the network, and the outputs that it computes next: a forward may change buffers.
void write(const std::string& path, ht::nn::LoadedModule& net, const Tensors& inputs) {
  ht::nn::save_safetensors(path + "-state.safetensors", net);
  if (ht::world().rank() == 0) net.save_network(path + "-trained.pt2");
  std::vector<ht::io::NamedArray> arrays;
  const auto outputs = evaluated(net, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    arrays.emplace_back(fmt::format("output.{}", i), ht::from_tensor(outputs[i]));
  ht::io::save_safetensors(arrays, path + "-outputs.safetensors");
  check_all(path + ", read again", evaluated(*ht::nn::load_module(path + "-trained.pt2"), inputs), outputs);
}

void check(const std::string& folder, const std::string& name) {
  const auto path = folder + "/" + name;
  const auto python = read(path + ".safetensors");
  const auto inputs = numbered(python, "input");
  const auto net = ht::nn::load_module(path + ".pt2");
  check_batch(name, *net, python);
  check_all(name + ", evaluated", evaluated(*net, inputs), numbered(python, "evaluated"));
  for (auto& parameter : net->parameters()) parameter.mutable_grad().reset();
  train(net, inputs);
  for (const auto& item : net->named_parameters())
    if (const auto found = python.find("stepped." + item.key()); found != python.end())
      check_near(name + ", stepped " + item.key(), item.value(), found->second);
  write(path, *net, inputs);
}

}  // namespace

int main(int argc, char** argv) {
  return ht::run(argc, argv, [&] {
    for (int i = 2; i < argc; ++i) {
      try {
        check(argv[1], argv[i]);
      } catch (const std::exception& error) {
        fmt::print(stderr, "rank {}, {}: {}\n", ht::world().rank(), argv[i], error.what());
        throw;
      }
    }
  });
}
