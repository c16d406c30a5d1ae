#pragma once

#include <heatpp/comm/progress_thread.hpp>
#include <heatpp_nn/parallel/detail/flat.hpp>
#include <heatpp_nn/parallel/merge.hpp>

#include <chrono>
#include <cmath>

namespace heatpp::nn {

/// Which ranks of a node carry its weights to the other nodes.
enum class Carriers {
  all,      ///< each a share of them, all at the same time
  rotating  ///< everything, one rank after another, as published
};

/// How the nodes' weights travel.
struct GlobalOptions {
  MergeOptions merge = {};
  Carriers carriers = Carriers::all;
  /// float32, or bfloat16 or int8 for float32 weights: then what a node learnt since the last mean travels, and what
  /// rounding took away is added the next time.
  Dtype wire = Dtype::float32;
  bool together = true;  ///< the ranks of a node hold equal weights
};

namespace detail {

/// The mean of the nodes' weights, computed while training goes on. The ranks of a node that hold equal weights each
/// carry a share of them between the nodes, and the node puts them together again; ranks that differ average their
/// node's shares first. Nodes count by their number of ranks. Where nodes are unequal, as many ranks of each carry a
/// share as the smallest node has; the others receive theirs inside the node.
class GlobalAverage {
 public:
  /// Throws ValueError for options that exclude one another, TypeError for a wire that does not fit.
  GlobalAverage(const Topology& topology, std::vector<at::Tensor> parameters, const GlobalOptions& options);
  GlobalAverage(const GlobalAverage&) = delete;  // messages under way point into it
  GlobalAverage& operator=(const GlobalAverage&) = delete;

  [[nodiscard]] int nodes() const { return nodes_; }
  /// Bytes that this rank has to get to other nodes for one average, before any algorithm.
  [[nodiscard]] std::int64_t bytes() const;
  /// The same without a narrower wire, and with carriers that do not take turns.
  [[nodiscard]] std::int64_t full_bytes() const { return flat_.bytes() / owners_; }

  /// The weights are equal on all nodes: what follows is seen from here.
  void anchor();
  /// Takes a snapshot and starts its average over the nodes; `failed` travels with it.
  void start(bool failed);
  /// At the end of each batch: lets the messages progress.
  void end_batch();
  /// Waits, without merging.
  void land();
  /// Waits and merges into the parameters, `age` batches after the start; at age 0 the mean takes their place. Returns
  /// whether any rank had failed; then nothing is merged.
  [[nodiscard]] bool finish(std::int64_t age);

  /// Seconds spent waiting so far.
  [[nodiscard]] double exposed_seconds() const { return exposed_seconds_; }
  /// Batches that the transfer before the last one took, the mean of all nodes; 0 where none is known.
  [[nodiscard]] std::int64_t needed() const { return std::lround(flags_[1] / nodes_); }

  /// What has to survive besides the parameters: memory of the merge rule, and with a transfer under way (which has to
  /// have landed) what it brought.
  [[nodiscard]] std::vector<at::Tensor> state(bool under_way) const;
  /// Goes on from the tensors of `state`, which have to be of the same sizes. Throws ValueError if not.
  void set_state(const std::vector<at::Tensor>& tensors, bool under_way);

 private:
  using Clock = std::chrono::steady_clock;
  struct Shard {
    std::int64_t first = 0;
    at::Tensor values = {};                            // in flat_: what is sent, then the sum, then what is merged
    at::Tensor snapshot = {};                          // of these values; of the whole buffer where ranks differ
    at::Tensor anchor = {}, velocity = {}, lost = {};  // undefined where not needed
  };

  void check(const GlobalOptions& options) const;
  void count_nodes();
  void deal(int carrier);
  void make_memory(Shard& shard) const;
  void average_in_node(std::size_t i);
  void send(Shard& shard, const at::Tensor& weights);
  [[nodiscard]] at::Tensor mean_of(Shard& shard) const;
  void fan_out(std::size_t i, MergePolicy policy);
  void measure(std::int64_t age);
  [[nodiscard]] bool carries() const { return topology_.node().rank() < owners_; }
  [[nodiscard]] bool anchored() const { return options_.merge.policy == MergePolicy::outer || narrow_; }

  Topology topology_, across_;
  std::vector<at::Tensor> parameters_;
  GlobalOptions options_;
  FlatBuffers flat_;
  bool narrow_;  // the wire is narrower than float32
  int nodes_ = 1;
  int owners_ = 1;  // ranks of each node that carry a share
  std::int64_t turn_ = 0;
  std::vector<std::vector<std::int64_t>> counts_;  // for each buffer, the share of each rank of the node
  std::vector<Shard> shards_;                      // this rank's, for each buffer
  std::vector<Request> requests_;
  std::optional<ProgressThread> beside_;  // while they are under way
  std::array<double, 2> flags_{0, 0};     // sums over nodes: failed; batches needed
  std::array<double, 2> mine_{0, 0};
  Clock::time_point began_ = {};
  std::int64_t batches_ = 0;               // since then
  std::optional<std::int64_t> landed_at_;  // the batch
  double exposed_seconds_ = 0, exposed_before_ = 0;
};

}  // namespace detail
}  // namespace heatpp::nn
