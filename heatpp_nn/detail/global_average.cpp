#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/detail/global_average.hpp>

#include <array>
#include <chrono>
#include <numeric>

namespace heatpp::nn::detail {

using heatpp::detail::buffer_of;

GlobalAverage::GlobalAverage(const Topology& topology, std::vector<at::Tensor> parameters)
    : topology_(topology), parameters_(std::move(parameters)), flat_(parameters_) {
  // Rank 0 of a node has a partner in every other node.
  std::array<std::int64_t, 1> nodes{topology_.across().size()}, smallest{topology_.node().size()};
  topology_.node().broadcast(nodes, 0);
  topology_.comm().allreduce(smallest, ReduceOp::min);
  nodes_ = static_cast<int>(nodes[0]);
  owners_ = static_cast<int>(smallest[0]);
  find_shards();
}

void GlobalAverage::find_shards() {
  const auto& node = topology_.node();
  for (const auto& buffer : flat_.buffers()) {
    auto& counts = counts_.emplace_back(static_cast<std::size_t>(node.size()), 0);
    for (int k = 0; k < owners_; ++k)
      counts[static_cast<std::size_t>(k)] = buffer.numel() / owners_ + (k < buffer.numel() % owners_);
    const auto first = std::reduce(counts.begin(), counts.begin() + node.rank());
    shards_.push_back(buffer.narrow(0, first, counts[static_cast<std::size_t>(node.rank())]));
  }
}

std::int64_t GlobalAverage::bytes() const {
  std::int64_t sum = 0;
  for (const auto& shard : shards_) sum += static_cast<std::int64_t>(shard.nbytes());
  return sum;
}

void GlobalAverage::start(bool failed) {
  flat_.pack(parameters_);
  snapshots_.clear();
  failed_ = {failed};
  if (topology_.node().rank() >= owners_) return;
  for (const auto& shard : shards_) {
    snapshots_.push_back(shard.clone());
    if (!topology_.uniform()) shard.mul_(topology_.node().size());
    requests_.push_back(topology_.across().iallreduce(buffer_of(shard)));
  }
  requests_.push_back(topology_.across().iallreduce(failed_, ReduceOp::max));
}

void GlobalAverage::progress() {
  for (auto& request : requests_) (void)request.test();
}

bool GlobalAverage::wait() {
  const auto begin = std::chrono::steady_clock::now();
  for (auto& request : requests_) request.wait();
  requests_.clear();
  exposed_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!topology_.uniform()) topology_.node().broadcast(failed_, 0);
  return failed_[0] != 0;
}

void GlobalAverage::gather(const MergeOptions& options) {
  const int total = topology_.uniform() ? nodes_ : topology_.comm().size();
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (topology_.node().rank() < owners_) {
      shards_[i].div_(total);
      prepare_merge(shards_[i], snapshots_[i], options.policy);
    }
    topology_.node().allgather(buffer_of(shards_[i]), buffer_of(flat_.buffers()[i]), counts_[i]);
  }
}

bool GlobalAverage::finish(const MergeOptions& options, std::int64_t age) {
  if (wait()) return true;
  const at::NoGradGuard no_grad;
  gather(options);
  const auto weight = merge_weight(options, age, nodes_);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    merge(parameters_[i], flat_.view(i).to(parameters_[i].device()), weight, options.policy);
  return false;
}

}  // namespace heatpp::nn::detail
