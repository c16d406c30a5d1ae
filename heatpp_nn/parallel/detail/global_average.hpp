#pragma once

#include <heatpp/comm/progress_thread.hpp>
#include <heatpp_nn/parallel/detail/ballot.hpp>
#include <heatpp_nn/parallel/detail/flat_parameters.hpp>
#include <heatpp_nn/parallel/partners.hpp>
#include <heatpp_nn/parallel/tuning.hpp>

#include <array>
#include <chrono>
#include <exception>
#include <mutex>

namespace heatpp::nn {

/// The ranks of a node that carry its weights to the other nodes.
enum class Carriers {
  all,      ///< each carries a share, all at the same time
  rotating  ///< one rank after another carries everything, as published
};

/// How the nodes' weights travel.
struct GlobalOptions {
  MergeOptions merge = {};
  Carriers carriers = Carriers::all;
  Partners partners = Partners::all;
  /// If narrower than float32, nodes send the change of their float32 weights since the last mean, and the rounding
  /// error is added the next time.
  Wire wire = Wire::float32;
  bool together = true;  ///< the ranks of a node hold equal weights, or those of the carrier count
  bool nodes_count_alike = false;
  std::int64_t fragments = 1;                     ///< number of fragments, which travel in turns
  bool at_once = false;                           ///< ... or all in one average, as long as DASO's tuning says so
  std::optional<double> patience = std::nullopt;  ///< seconds after which nodes go on without those that are late
  double quorum = 0.5;                            ///< share of the nodes that do so at least
  bool tuned = false;  ///< measures the drift, and has memory for every rule and wire, because these may change
};

namespace detail {

/// Returns the sum of squares.
[[nodiscard]] double square_of(const at::Tensor& values);

/// Averages the nodes' weights while training continues. If the ranks of a node hold equal weights, each owns a share:
/// it averages and merges this share with its owners in the other nodes, and then the node gathers the shares. If they
/// differ, they first average their shares in the node, and each merges the whole. The weight of a node is its number
/// of ranks, or 1. If nodes are unequal, the number of owners in each is that of ranks in the smallest node.
///
/// With several fragments, each owner cuts its share into as many ranges of equal size, and an average is of one of
/// them, in turns.
///
/// Pairs of nodes exchange their snapshots instead, and hear of no other node.
///
/// Nodes with a patience vote when an average starts, in a thread. A node that has not come contributes nothing, and
/// keeps its work for the next average. For these, `attend` to `leave` replace `start` to `finish`.
///
/// Memory in addition to the weights: of a share, the data to send and its snapshot; for some rules and wires also an
/// anchor, a velocity, and rounding errors; with a patience an anchor and work. If ranks differ: twice the weights.
class GlobalAverage {
 public:
  /// `shares` are those of the node's ranks; they must outlive this object, as `flat` must. Throws ValueError for
  /// options that exclude one another.
  GlobalAverage(const Topology& topology, FlatParameters& flat, Shares& shares, const GlobalOptions& options);
  GlobalAverage(const GlobalAverage&) = delete;  // messages under way refer to it
  GlobalAverage& operator=(const GlobalAverage&) = delete;
  /// With a patience, waits until all nodes destroy it or `leave`.
  ~GlobalAverage();

  [[nodiscard]] int nodes() const { return nodes_; }
  /// Returns the bytes that this rank has to bring to other nodes for the last average, independent of the algorithm.
  [[nodiscard]] std::int64_t bytes() const;
  /// Returns the bytes without a narrower wire, and with carriers that do not take turns.
  [[nodiscard]] std::int64_t full_bytes() const { return flat_.bytes() / shares_.owners(); }

  /// Records that the weights are equal on all nodes: later changes are relative to them.
  void anchor();
  /// Takes a snapshot and starts its average over the nodes; `failed` travels with it.
  void start(bool failed);
  /// Makes progress with the messages. Called at the end of each batch.
  void end_batch();
  /// Waits until the result has arrived, without merging.
  void land();
  /// Waits, and drops the result.
  void drop();
  /// Waits and merges, `age` batches after the start; at age 0 the mean replaces the weights. Afterwards the
  /// node must gather the shares that were merged. Returns whether any rank had failed; then nothing is
  /// merged.
  [[nodiscard]] bool finish(std::int64_t age);
  /// Gathers in the node the shares that were merged last. Collective over the node.
  void gather();
  /// What the ranks of a node know at the end of a batch, together.
  struct Seen {
    std::int64_t called = 0;    ///< others wait for this node
    std::int64_t fresh = 0;     ///< there is a newer mean
    std::int64_t held = 0;      ///< work that was handed over has not been averaged
    std::int64_t missed = 0;    ///< an average went without it
    std::int64_t averaged = 0;  ///< number of averages since the others were left
    std::int64_t end = 0;       ///< others wait at a drain, after this many batches; 0: no
    [[nodiscard]] std::span<std::int64_t> all() { return {&called, sizeof(Seen) / sizeof(std::int64_t)}; }
  };
  /// Looks how far the others are. `due`: the next average is due. Collective over the node.
  [[nodiscard]] Seen attend(bool due);
  /// Hands over the work since the last time. Local.
  void come(bool due);
  /// Waits until the work that was handed over has been averaged, or an average has gone without it.
  void wait_for_mean();
  /// Adds to the weights what the others have done. Afterwards the node must gather the shares.
  void settle();
  /// Waits until all nodes leave, after `batch` batches, and settles. Collective over all ranks.
  void leave(std::int64_t batch);

  /// Returns the number of the fragment that was started last.
  [[nodiscard]] std::int64_t fragment() const { return fragment_; }

  /// Returns the seconds spent in its collectives so far, except for starting them.
  [[nodiscard]] double exposed_seconds() const { return exposed_seconds_; }
  /// Returns the costs of the synchronisation before the last one, equal on all ranks. A batch of 0 s: none is known.
  [[nodiscard]] SyncCosts costs() const;
  /// Sets wire, rule and turns for the next start, if the options say `tuned`. Not allowed while a transfer is under
  /// way.
  void set_way(Wire wire, MergePolicy policy, bool at_once = false);
  [[nodiscard]] const GlobalOptions& options() const { return options_; }

  /// Returns the state for a checkpoint besides the parameters: memory of the merge rule and, if a transfer is under
  /// way (which must have arrived), its result.
  [[nodiscard]] std::vector<at::Tensor> state(bool under_way) const;
  /// Continues from the tensors of `state`, which must have the same sizes. Throws ValueError if they do not.
  void set_state(const std::vector<at::Tensor>& tensors, bool under_way);

 private:
  using Clock = std::chrono::steady_clock;
  // Time between two tests of messages under way: shorter than a message of a megabyte, longer than a test.
  static constexpr std::chrono::microseconds between_looks{1000};
  /// Numbers that travel with the weights and are summed over all ranks. The sum of rates is dominated by the node that
  /// started last, which waited for no other.
  struct Notes {
    double failed = 0, rate = 0, batch = 0, waited = 0;  // rate: 1 / s; the others in seconds
    double apart = 0, length = 0;                        // squares of |s - m| and |s|
    [[nodiscard]] std::span<double> all() { return {&failed, sizeof(Notes) / sizeof(double)}; }
  };
  /// The part of the buckets of one dtype and device that this rank owns, or a fragment of it.
  struct Shard {
    Fragment fragment = {};
    std::vector<std::size_t> buckets = {};
    std::vector<at::Tensor> parts = {};                // views of the weights
    at::Tensor values = {};                            // data to send, then the sum, then the data to merge
    at::Tensor snapshot = {};                          // copy of the parts
    at::Tensor anchor = {}, velocity = {}, lost = {};  // undefined where not needed
    at::Tensor sent = {}, mail = {};                   // of pairs: messages under way, in memory of the host
    at::Tensor work = {};                              // with a patience: changes that were handed over
  };
  /// The part that this rank takes in averages that do not wait for late nodes. `looking_` guards it.
  struct Attendance {
    Attendance(const Communicator& comm, double patience, std::int64_t quorum) : ballot(comm, patience, quorum) {}
    Ballot ballot;
    Presence me = {};
    Verdict last = {};
    bool travels = false, taken = false, stopped = false;  // taken: with this node's work
    std::int64_t started = 0, averaged = 0, merged = 0;    // numbers of averages
    std::int64_t missed = 0;                               // averages since the last with this node's work
    std::array<double, 1> weight = {};                     // of this node, then of all
  };
  /// Copies of a bucket, if the ranks of a node differ.
  struct Apart {
    at::Tensor mean, snapshot;
  };

  void check(const GlobalOptions& options) const;
  void check_patience(const GlobalOptions& options) const;
  void count_nodes();
  void make_shards();
  void cut_parts();
  void take_turn(std::int64_t turn);
  [[nodiscard]] bool travels(const Shard& shard) const { return options_.at_once || shard.fragment.index == fragment_; }
  void make_memory(Shard& shard) const;
  void average_in_node();
  void send(Shard& shard);
  void send_values(Shard& shard);
  void look() noexcept;
  void measure(std::int64_t age);

  // These are in global_merge.cpp.
  void exchange(Shard& shard);
  [[nodiscard]] at::Tensor mean_of_pair(Shard& shard);
  [[nodiscard]] at::Tensor mean_of(Shard& shard);
  void merge_shares(MergePolicy policy, double weight);
  void merge_apart(MergePolicy policy, double weight);
  void move_anchor(Shard& shard, double count);
  static void add_to_parts(const Shard& shard, const at::Tensor& values);

  // These are in global_patience.cpp.
  void begin();
  void advance(bool wait);
  void contribute();
  void receive();
  void rebase();

  [[nodiscard]] bool carries() const { return topology_.node().rank() < shares_.owners(); }
  [[nodiscard]] bool weighed() const { return !options_.nodes_count_alike && !topology_.uniform(); }
  [[nodiscard]] bool paired() const { return options_.partners == Partners::pairs; }
  [[nodiscard]] bool narrow() const { return options_.wire != Wire::float32; }
  [[nodiscard]] bool anchored() const {
    return options_.merge.policy == MergePolicy::outer || narrow() || options_.tuned || options_.patience;
  }

  Topology topology_, across_;
  FlatParameters& flat_;
  Shares& shares_;
  GlobalOptions options_;
  int nodes_ = 1;
  std::int64_t turn_ = 0, fragment_ = 0;
  std::optional<int> partner_;       // of pairs: the node of the last synchronisation
  std::vector<std::int64_t> sizes_;  // of pairs: ranks in each node, if these weigh differently
  std::vector<Shard> shards_;
  std::vector<Apart> apart_;
  std::vector<Request> requests_;
  std::mutex looking_;  // guards the following members while a thread tests, too
  std::optional<Clock::time_point> landed_;
  std::exception_ptr error_;
  std::optional<Attendance> attendance_;  // in the cycle, with a patience
  std::optional<ProgressThread> beside_;  // runs while messages are under way
  Notes sums_, mine_;
  Clock::time_point began_ = {};
  double exposed_seconds_ = 0;
  double waited_ = 0;  // during the transfer under way
};

}  // namespace detail
}  // namespace heatpp::nn
