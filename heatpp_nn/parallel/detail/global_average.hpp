#pragma once

#include <heatpp/comm/progress_thread.hpp>
#include <heatpp_nn/parallel/detail/flat_parameters.hpp>
#include <heatpp_nn/parallel/tuning.hpp>

#include <chrono>
#include <exception>
#include <mutex>

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
  bool together = true;  ///< the ranks of a node hold equal weights, or those of the carrier count
  bool nodes_count_alike = false;
  bool tuned = false;  ///< measures the drift, and has memory for every rule and wire, which then may change
};

namespace detail {

/// The mean of the nodes' weights, computed while training goes on. The ranks of a node that hold equal weights each
/// own a share of them, which they average with its owners in the other nodes and merge; then the node puts the shares
/// together. Ranks that differ average their node's shares first, and each merges the whole. Nodes count by their
/// number of ranks, or alike. Where nodes are unequal, as many ranks of each own a share as the smallest node has.
///
/// In memory, beside the weights: of a share what is sent and its snapshot, and for some rules and wires an anchor, a
/// velocity, and what rounding took away. Where ranks differ, the weights twice.
class GlobalAverage {
 public:
  /// `shares` are those of the node's ranks, and live as long as `flat` and this do. Throws ValueError
  /// for options that exclude one another, TypeError for a wire that does not fit.
  GlobalAverage(const Topology& topology, FlatParameters& flat, Shares& shares, const GlobalOptions& options);
  GlobalAverage(const GlobalAverage&) = delete;  // messages under way point into it
  GlobalAverage& operator=(const GlobalAverage&) = delete;

  [[nodiscard]] int nodes() const { return nodes_; }
  /// Bytes that this rank has to get to other nodes for one average, before any algorithm.
  [[nodiscard]] std::int64_t bytes() const;
  /// The same without a narrower wire, and with carriers that do not take turns.
  [[nodiscard]] std::int64_t full_bytes() const { return flat_.bytes() / shares_.owners(); }

  /// The weights are equal on all nodes: what follows is seen from here.
  void anchor();
  /// Takes a snapshot and starts its average over the nodes; `failed` travels with it.
  void start(bool failed);
  /// At the end of each batch: lets the messages progress.
  void end_batch();
  /// Waits, without merging.
  void land();
  /// Waits, and forgets what was under way.
  void drop();
  /// Waits and merges, `age` batches after the start; at age 0 the mean takes the place of the weights. What a share
  /// was merged into is to be spread in the node afterwards. Returns whether any rank had failed; then nothing is
  /// merged.
  [[nodiscard]] bool finish(std::int64_t age);

  /// Seconds spent in its collectives so far, other than starting them.
  [[nodiscard]] double exposed_seconds() const { return exposed_seconds_; }
  /// Of the synchronisation before the last one, the same on all ranks. A batch of 0 s: none is known.
  [[nodiscard]] SyncCosts costs() const;
  /// Where tuned: how what starts next travels and is merged. Not while a transfer is under way.
  void set_way(Dtype wire, MergePolicy policy);
  [[nodiscard]] const GlobalOptions& options() const { return options_; }

  /// What has to survive besides the parameters: memory of the merge rule, and with a transfer under way (which has to
  /// have landed) what it brought.
  [[nodiscard]] std::vector<at::Tensor> state(bool under_way) const;
  /// Goes on from the tensors of `state`, which have to be of the same sizes. Throws ValueError if not.
  void set_state(const std::vector<at::Tensor>& tensors, bool under_way);

 private:
  using Clock = std::chrono::steady_clock;
  /// What travels beside the weights and is added up over all ranks. The sum of rates leans to the node that was last
  /// to start, which waited for no other.
  struct Notes {
    double failed = 0, rate = 0, batch = 0, waited = 0;  // rate: 1 / s; the others in seconds
    double apart = 0, length = 0;                        // squares of |s - m| and |s|
    [[nodiscard]] std::span<double> all() { return {&failed, sizeof(Notes) / sizeof(double)}; }
  };
  /// What this rank owns of the buckets of a dtype and device.
  struct Shard {
    std::vector<std::size_t> buckets = {};
    std::vector<at::Tensor> parts = {};                // of the weights
    at::Tensor values = {};                            // what is sent, then the sum, then what is merged
    at::Tensor snapshot = {};                          // of the parts
    at::Tensor anchor = {}, velocity = {}, lost = {};  // undefined where not needed
  };
  /// Of a bucket, where the ranks of a node differ.
  struct Apart {
    at::Tensor mean, snapshot;
  };

  void check(const GlobalOptions& options) const;
  void count_nodes();
  void make_shards();
  void cut_parts();
  void take_turn(std::int64_t turn);
  void make_memory(Shard& shard) const;
  void average_in_node();
  void send(Shard& shard);
  [[nodiscard]] at::Tensor mean_of(Shard& shard);
  void merge_shares(MergePolicy policy, double weight);
  void merge_apart(MergePolicy policy, double weight);
  void look() noexcept;
  void measure(std::int64_t age);
  [[nodiscard]] bool carries() const { return topology_.node().rank() < shares_.owners(); }
  [[nodiscard]] bool weighed() const { return !options_.nodes_count_alike && !topology_.uniform(); }
  [[nodiscard]] bool narrow() const { return options_.wire != Dtype::float32; }
  [[nodiscard]] bool anchored() const {
    return options_.merge.policy == MergePolicy::outer || narrow() || options_.tuned;
  }

  Topology topology_, across_;
  FlatParameters& flat_;
  Shares& shares_;
  GlobalOptions options_;
  int nodes_ = 1;
  std::int64_t turn_ = 0;
  std::vector<Shard> shards_;
  std::vector<Apart> apart_;
  std::vector<Request> requests_;
  std::mutex looking_;  // of what follows, while a thread looks, too
  std::optional<Clock::time_point> landed_;
  std::exception_ptr error_;
  std::optional<ProgressThread> beside_;  // while they are under way
  Notes sums_, mine_;
  Clock::time_point began_ = {};
  double exposed_seconds_ = 0;
  double waited_ = 0;  // for what is under way
};

}  // namespace detail
}  // namespace heatpp::nn
