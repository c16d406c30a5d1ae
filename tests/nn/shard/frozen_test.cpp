#include "../scratch_file.hpp"
#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/training/checkpoint.hpp>

using namespace heatpp::nn;

namespace {

struct Frozen : SmallNet {
  Frozen() {
    for (auto& parameter : first->parameters()) parameter.requires_grad_(false);
  }
};

ReplicaOptions shared(Scope scope) {
  return {.gradients = {.bucket_bytes = 200}, .shard = scope, .shard_weights = true};
}

/// The scopes of the optimizer that go with shared weights.
std::vector<Scope> scopes_of(const ht::Topology& topology) {
  if (!topology.uniform()) return {Scope::node};
  return {Scope::node, Scope::all};
}

}  // namespace

TEST_CASE("A checkpoint holds frozen weights that ranks have in common", "[nn][shard_weights][checkpoint]") {
  const auto path = scratch_path("nn_frozen_weights");
  const ScratchFile scratch{path};
  for (const auto& topology : topologies())
    for (const auto scope : scopes_of(topology)) {
      const auto run = [&](DataParallel<Frozen>& model, torch::optim::AdamW& adam, std::int64_t batch) {
        adam.zero_grad();
        backward(model, batch);
        model.step(adam);
      };
      DataParallel<Frozen> first(std::make_shared<Frozen>(), topology, shared(scope));
      first.change_weights([&] { first->first->weight.add_(1); });
      torch::optim::AdamW adam(first.parameters(), torch::optim::AdamWOptions(0.01));
      for (std::int64_t b = 0; b < 3; ++b) run(first, adam, b);
      save_checkpoint(path, first, adam);
      run(first, adam, 3);
      for (const bool in_common : {true, false}) {
        DataParallel<Frozen> again(std::make_shared<Frozen>(), topology,
                                   in_common ? shared(scope) : ReplicaOptions{.shard = scope});
        torch::optim::AdamW other(again.parameters(), torch::optim::AdamWOptions(0.01));
        (void)load_checkpoint(path, again, other);
        run(again, other, 3);
        CHECK(distance(weights(again.module()), weights(first.module())) < 1e-12);
      }
    }
}

TEST_CASE("frozen weights are in the memory that ranks of a node have in common", "[nn][shard_weights]") {
  for (const auto& topology : topologies())
    for (const auto scope : scopes_of(topology)) {
      DataParallel<Frozen> model(std::make_shared<Frozen>(), topology, shared(scope));
      const auto before = model->first->weight.clone();
      CHECK(distance({before}, {Frozen().first->weight}) == 0);
      model.change_weights([&] { model->first->weight.add_(1); });  // by one rank of each node
      CHECK(torch::equal(model->first->weight, before + 1));
      CHECK(model.equal_on_all_ranks());
      CHECK(!model->first->weight.requires_grad());
    }
}
