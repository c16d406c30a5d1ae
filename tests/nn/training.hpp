#pragma once

#include "../with_torch.hpp"
#include "../agreement.hpp"

#include <heatpp/comm/topology.hpp>
#include <heatpp_nn/parallel/daso.hpp>
#include <heatpp_nn/parallel/data_parallel.hpp>

namespace ht = heatpp;

/// Two linear layers, in float64 by default, with the same weights on all ranks.
struct SmallNet : torch::nn::Module {
  torch::nn::Linear first{nullptr}, second{nullptr};

  explicit SmallNet(at::ScalarType dtype = at::kDouble) {
    torch::manual_seed(7);
    first = register_module("first", torch::nn::Linear(5, 8));
    second = register_module("second", torch::nn::Linear(8, 3));
    to(dtype);
  }
  at::Tensor forward(const at::Tensor& x) { return second(torch::tanh(first(x))); }
};

/// Returns samples of a regression problem, equal on all ranks.
inline std::pair<at::Tensor, at::Tensor> samples(std::int64_t n, std::uint64_t seed = 1) {
  auto generator = at::detail::createCPUGenerator(seed);
  auto x = torch::randn({n, 5}, generator, torch::kDouble);
  return {x, torch::sin(x.narrow(1, 0, 3)) + x.narrow(1, 2, 3)};
}

/// Returns this rank's rows of batch number `batch`, of `per_rank` rows each.
inline std::pair<at::Tensor, at::Tensor> my_batch(std::int64_t batch, std::int64_t per_rank) {
  const auto [x, y] = samples(per_rank * ht::world().size(), 100 + static_cast<std::uint64_t>(batch));
  const auto first = per_rank * ht::world().rank();
  return {x.narrow(0, first, per_rank), y.narrow(0, first, per_rank)};
}

inline std::vector<at::Tensor> weights(const torch::nn::Module& module) {
  std::vector<at::Tensor> copies;
  for (const auto& parameter : module.parameters()) copies.push_back(parameter.detach().clone());
  return copies;
}

inline double distance(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, (a[i] - b[i]).abs().max().item<double>());
  return largest;
}

/// Returns ways to arrange the ranks in nodes: one node, all nodes of one rank, halves (in order, alternating and
/// neither), and unequal nodes.
inline std::vector<std::function<int(int)>> node_maps() {
  const int ranks = ht::world().size();
  std::vector<std::function<int(int)>> maps{[](int) { return 0; }};
  if (ranks > 1) maps.push_back([](int rank) { return rank; });
  if (ranks == 4) maps.push_back([](int rank) { return rank / 2; });
  if (ranks == 4) maps.push_back([](int rank) { return rank % 2; });
  if (ranks == 4) maps.push_back([](int rank) { return rank % 3 == 0 ? 0 : 1; });
  if (ranks > 2) maps.push_back([ranks](int rank) { return rank == ranks - 1; });
  return maps;
}

/// Returns the number of nodes.
inline int nodes_of(const std::function<int(int)>& map) {
  std::set<int> nodes;
  for (int rank = 0; rank < ht::world().size(); ++rank) nodes.insert(map(rank));
  return static_cast<int>(nodes.size());
}

/// Gives every gradient the value of `f` for this rank's node, so that steps are known.
struct Constant : torch::nn::Module {
  at::Tensor w = register_parameter("w", torch::zeros({7}, torch::kDouble));
  at::Tensor forward(double slope) { return w.sum() * slope; }
};

/// Returns the topologies of `node_maps`.
inline std::vector<ht::Topology> topologies() {
  std::vector<ht::Topology> found;
  for (const auto& map : node_maps()) found.emplace_back(ht::world(), ht::TopologyOptions{.node_of = map});
  return found;
}

template <class Net>
void backward(Net& net, std::int64_t batch, std::int64_t per_rank = 4) {
  const auto [x, y] = my_batch(batch, per_rank);
  torch::mse_loss(net(x), y).backward();
}

/// A training by DASO with Adam, always from the same start, in small buckets unless options say otherwise. Ranks of a
/// node may share the optimizer's work, or also the weights.
struct DasoTraining {
  DasoTraining(const ht::Topology& topology, std::optional<ht::nn::Scope> shard, const ht::nn::DasoOptions& options)
      : DasoTraining(topology, ht::nn::ReplicaOptions{.gradients = {.bucket_bytes = 200}, .shard = shard}, options) {}
  DasoTraining(const ht::Topology& topology, const ht::nn::ReplicaOptions& replica, const ht::nn::DasoOptions& options)
      : model(std::make_shared<SmallNet>(), topology, replica),
        adam(model.parameters(), torch::optim::AdamOptions(0.01)),
        daso(model, adam, options) {}

  void train(std::int64_t first, std::int64_t last) {
    for (auto b = first; b < last; ++b) {
      daso.zero_grad();
      backward(model, b);
      daso.step(1.0);
    }
  }
  /// Makes all ranks equal, and returns the weights.
  std::vector<at::Tensor> drained() {
    daso.drain();
    CHECK(model.equal_on_all_ranks());
    return weights(model.module());
  }

  ht::nn::DataParallelMultiGPU<SmallNet> model;
  torch::optim::Adam adam;
  ht::nn::DASO daso;
};

/// Runs `batches` steps of DASO from the same start, with the given optimizer type.
template <class Optimizer, class Options>
std::vector<at::Tensor> train_daso(const ht::Topology& topology, const Options& options, std::int64_t batches,
                                   const ht::nn::DasoOptions& daso_options) {
  ht::nn::DataParallelMultiGPU model(std::make_shared<SmallNet>(), topology);
  Optimizer optimizer(model.parameters(), options);
  ht::nn::DASO daso(model, optimizer, daso_options);
  for (std::int64_t b = 0; b < batches; ++b) {
    daso.zero_grad();
    backward(model, b);
    daso.step(1.0);
  }
  return weights(model.module());
}

/// Runs `batches` steps of DataParallel from the same start.
template <class Optimizer, class Options>
std::vector<at::Tensor> train_synchronously(const ht::Topology& topology, const Options& options,
                                            std::int64_t batches) {
  ht::nn::DataParallel model(std::make_shared<SmallNet>(), topology);
  Optimizer optimizer(model.parameters(), options);
  for (std::int64_t b = 0; b < batches; ++b) {
    optimizer.zero_grad();
    backward(model, b);
    model.average_gradients();
    optimizer.step();
  }
  return weights(model.module());
}
