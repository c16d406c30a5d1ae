#pragma once

#include <heatpp_nn/detail/flat.hpp>
#include <heatpp_nn/merge.hpp>

namespace heatpp::nn::detail {

/// The mean of the nodes' weights, computed while training goes on. The ranks of a node hold equal weights, so each
/// carries a share of them between the nodes, all shares at the same time, and the node puts them together again.
/// Nodes count by their number of ranks. Where nodes are unequal, as many ranks of each carry a share as the smallest
/// node has; the others receive theirs inside the node.
class GlobalAverage {
 public:
  GlobalAverage(const Topology& topology, std::vector<at::Tensor> parameters);
  GlobalAverage(const GlobalAverage&) = delete;  // messages under way point into it
  GlobalAverage& operator=(const GlobalAverage&) = delete;

  [[nodiscard]] int nodes() const { return nodes_; }
  /// Payload that this rank sends between nodes for one average.
  [[nodiscard]] std::int64_t bytes() const;

  /// Takes a snapshot and starts its average over the nodes; `failed` travels with it.
  void start(bool failed);
  /// Lets the messages progress.
  void progress();
  /// Waits and merges into the parameters. Returns whether any rank had failed; then nothing is merged.
  [[nodiscard]] bool finish(const MergeOptions& options, std::int64_t age);
  /// Seconds spent waiting so far.
  [[nodiscard]] double exposed_seconds() const { return exposed_seconds_; }

 private:
  void find_shards();
  [[nodiscard]] bool wait();
  void gather(const MergeOptions& options);

  Topology topology_;
  std::vector<at::Tensor> parameters_;
  FlatBuffers flat_;
  int nodes_ = 1;
  int owners_ = 1;                                 // ranks of each node that carry a share
  std::vector<std::vector<std::int64_t>> counts_;  // for each buffer, the share of each rank of the node
  std::vector<at::Tensor> shards_;                 // this rank's, in flat_
  std::vector<at::Tensor> snapshots_;
  std::vector<Request> requests_;
  std::array<std::int64_t, 1> failed_{0};
  double exposed_seconds_ = 0;
};

}  // namespace heatpp::nn::detail
