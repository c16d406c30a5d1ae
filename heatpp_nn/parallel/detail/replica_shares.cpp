#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/replica.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <ranges>

// How ranks share the optimizer's work, and weights and gradients.
namespace heatpp::nn {

namespace {

/// Averages over nodes tensors that one rank of each node has. Nodes are weighted by their number of ranks.
void average_across(const Topology& topology, const std::vector<at::Tensor>& tensors) {
  const auto share = static_cast<double>(topology.node().size()) / topology.comm().size();
  std::vector<Request> requests;
  for (const auto& tensor : tensors)
    requests.push_back(topology.across().iallreduce(heatpp::detail::buffer_of(tensor.detach().mul_(share))));
  wait_all(requests);
}

}  // namespace

/// Moves equal weights to flat memory. Ranks that hold it in common all write the same values.
void Replica::make_flat() {
  all_or_none(topology_.comm(), [&] {
    if (options_.shard_weights && !options_.shard)
      heatpp::detail::raise<ValueError>(
          "Replica",
          "got shard_weights without shard; expected both, because ranks that share weights share the optimizer's "
          "work, too, or neither");
    const auto* const node = options_.shard_weights ? &topology_.node() : nullptr;
    flat_ = std::make_unique<detail::FlatParameters>(trained_, options_.gradients.bucket_bytes, node);
    if (node) share_frozen();
  });
}

/// Moves frozen weights, too. They are equal, so all ranks write the same values.
void Replica::share_frozen() {
  const at::NoGradGuard no_grad;
  detail::expect_on_cpu(frozen_);
  const detail::FlatBuffers flat(frozen_, topology_.node());
  for (std::size_t i = 0; i < frozen_.size(); ++i) {
    at::Tensor(flat.view(i)).copy_(frozen_[i]);
    frozen_[i].set_data(flat.view(i));
  }
  frozen_flat_ = flat;
}

/// Gives the optimizer this rank's pieces, in the order of the module.
void Replica::share_out() {
  if (*shard_ == Scope::all) owned_->all.emplace(*flat_, topology_, topology_.comm().size());
  if (flat_->in_common()) (owned_->all ? *owned_->all : owned_->in_node).keep_gradients();
  auto& pieces = owned_->pieces;
  pieces = detail::pieces_of(*flat_, owned_->shares());
  gradients_->share(owned_->shares(), pieces, *shard_);
  optimized_.clear();
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) optimized_.push_back(piece->values);
}

void Replica::spread() {
  owned_->shares().gather();
  for (std::size_t b = 0; b < flat_->buckets().size(); ++b) flat_->leave_room(b);  // Muon's momentum
  outdated_ = false;
}

void Replica::change_weights(const std::function<void()>& change) {
  if (flat_->in_common()) topology_.node().barrier();
  all_or_none(topology_.comm(), [&] {
    if (!flat_->in_common() || topology_.node().rank() == 0) change();
  });
  flat_->accept_writes();
}

std::int64_t Replica::average_weights(std::vector<at::Tensor> tensors) {
  flat_->adopt();
  if (shard_) {
    std::ranges::copy(optimized_, std::back_inserter(tensors));
    detail::replaced_by(tensors, [this](const auto& means) { average_across(topology_, means); });
    owned_->in_node.gather();
  } else {
    for (const auto& bucket : flat_->buckets()) tensors.push_back(bucket.values);
    detail::replaced_by(tensors, [this](const auto& means) { detail::average(topology_, means); });
  }
  std::int64_t bytes = 0;
  for (const auto& tensor : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

void Replica::add_up_pieces(std::span<const at::Tensor> tensors, std::span<double> numbers, std::size_t each) const {
  if (!shard_) return;
  std::map<const void*, std::size_t> parameter_of;
  for (const auto& piece : owned_->pieces) parameter_of[piece.values.unsafeGetTensorImpl()] = piece.parameter;
  std::vector<double> sums(trained_.size() * each);
  const auto of = [&](std::size_t i) { return parameter_of.at(tensors[i].unsafeGetTensorImpl()) * each; };
  for (std::size_t i = 0; i < tensors.size(); ++i)
    for (std::size_t k = 0; k < each; ++k) sums[of(i) + k] += numbers[i * each + k];
  owned_->shares().comm().allreduce(sums);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    for (std::size_t k = 0; k < each; ++k) numbers[i * each + k] = sums[of(i) + k];
}

void Replica::gather_gradients() const {
  if (!shard_) return;
  std::vector<at::Tensor> gradients;
  for (std::size_t b = 0; b < flat_->buckets().size(); ++b) {
    flat_->make_room(b);
    gradients.push_back(flat_->buckets()[b].gradients);
    auto part = owned_->shares().part(b, gradients.back());
    if (flat_->in_common()) part.copy_(owned_->shares().gradients(b));
  }
  owned_->shares().gather(gradients);
}

}  // namespace heatpp::nn
