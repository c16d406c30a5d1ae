#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/parallel/detail/complex_watch.hpp>
#include <heatpp_nn/parallel/replica.hpp>

#include <torch/optim/optimizer.h>

#include <array>
#include <map>

// How a replica lies on the ranks of its topology, and moves to those that are left.
namespace heatpp::nn {

void Replica::arrange() {
  std::array<std::int64_t, 1> smallest{topology_.node().size()};
  topology_.comm().allreduce(smallest, ReduceOp::min);
  std::array<std::int64_t, 1> first{node_number_ < 0 ? topology_.comm().rank() : node_number_};
  topology_.node().allreduce(first, ReduceOp::min);
  node_number_ = first[0];
  const Topology node(topology_.node(), {.node_of = [](int) { return 0; }});
  owned_ = std::make_unique<detail::Ownership>(
      detail::Ownership{node, {*flat_, node, static_cast<int>(smallest[0])}, std::nullopt, {}});
  gradients_ = std::make_unique<detail::GradientAverage>(*flat_, node, topology_, options_.gradients);
  for (const auto& piece : flat_->complex()) optimized_[trained_.size() - 1 - piece.parameter] = piece.values;
  complex_ = std::make_unique<detail::ComplexWatch>(*flat_);
  if (shard_) share_out();
  gradients_->send_to(Scope::all);
}

/// A rank knows the groups of its own pieces only. It learns the others while all ranks are there.
void Replica::learn_groups(const torch::optim::Optimizer& optimizer) const {
  if (!shard_ || !groups_.empty()) return;
  std::map<const void*, std::int64_t> group_of;
  for (std::size_t g = 0; g < optimizer.param_groups().size(); ++g)
    for (const auto& tensor : optimizer.param_groups()[g].params())
      group_of[tensor.unsafeGetTensorImpl()] = static_cast<std::int64_t>(g);
  std::vector<std::int64_t> groups(trained_.size(), -1);
  for (const auto& piece : owned_->pieces)
    if (const auto found = group_of.find(piece.values.unsafeGetTensorImpl()); found != group_of.end())
      groups[piece.parameter] = found->second;
  topology_.comm().allreduce(groups, ReduceOp::max);
  groups_ = std::move(groups);
}

void Replica::regroup(torch::optim::Optimizer& optimizer) const {
  if (groups_.empty() && optimizer.param_groups().size() > 1)
    heatpp::detail::raise<ValueError>("Replica",
                                      "got an optimizer of several groups, of which the ranks that are left know only "
                                      "their own; expected a batch before a rank ends");
  for (std::size_t g = 0; g < optimizer.param_groups().size(); ++g) {
    auto& params = optimizer.param_groups()[g].params();
    params.clear();
    for (auto piece = owned_->pieces.rbegin(); piece != owned_->pieces.rend(); ++piece)
      if (groups_.empty() || groups_[piece->parameter] == static_cast<std::int64_t>(g)) params.push_back(piece->values);
  }
}

/// Weights in common move to memory of the ranks that are left in the node.
void Replica::move_to(const Topology& topology, torch::optim::Optimizer& optimizer) {
  gradients_.reset();
  complex_.reset();
  owned_.reset();
  topology_ = topology;
  if (options_.shard_weights) make_flat();
  arrange();
  if (shard_) regroup(optimizer);
  updated_ = outdated_ = false;
}

}  // namespace heatpp::nn
