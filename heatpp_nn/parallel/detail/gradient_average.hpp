#pragma once

#include <torch/csrc/autograd/variable.h>

#include <heatpp_nn/parallel/detail/flat_parameters.hpp>
#include <memory>
#include <mutex>

namespace heatpp::nn {

/// The ranks over which something is averaged.
enum class Scope { node, all };

/// How gradients travel.
struct GradientOptions {
  std::int64_t bucket_bytes = 4 << 20;  ///< size of a bucket: gradients of about this many bytes travel together
  /// Wire between nodes of float32 gradients. If it is narrower, rounding errors are added to the next batch's
  /// gradients.
  Wire wire = Wire::float32;
  /// Sums over ranks are exact and rounded once: the bits are equal for any order of ranks and any topology, for up to
  /// twice the bytes. Not with a narrower wire.
  bool reproducible = false;
};

namespace detail {

/// Averages the gradients of parameters over ranks, while backward still computes others. A bucket is sent as soon as
/// all its gradients are there and the buckets before it were sent. So all ranks start the same messages in the same
/// order, whichever parameters a rank used. A gradient is copied to its place in the flat memory and sent, and then is
/// a view of it; so gradients that shared memory after backward are separate. If ranks own shares, only the pieces of
/// parameters get gradients, and complex parameters get none. If ranks hold the weights in common, a rank keeps its
/// part of a bucket's sum, and the bucket's memory is free again: about three buckets have memory at a time.
class GradientAverage {
 public:
  GradientAverage(const FlatParameters& flat, const Topology& node, const Topology& all,
                  const GradientOptions& options);
  ~GradientAverage();
  GradientAverage(const GradientAverage&) = delete;
  GradientAverage& operator=(const GradientAverage&) = delete;

  /// Lets this rank own `pieces`, as `shares` splits them over the ranks of `scope`. Both must outlive this object.
  void share(const Shares& shares, std::span<const Piece> pieces, Scope scope);
  /// Sets whether backward may wait for other ranks' gradients, because it makes no other collectives; initially not.
  void let_wait(bool waits) { waits_ = waits; }
  /// Sets the ranks that average the next gradients; nullopt: none. Throws ValueError if some are under way.
  void send_to(std::optional<Scope> scope);
  [[nodiscard]] std::optional<Scope> scope() const { return scope_; }
  /// The next backward is of a mean over `samples` samples, which may differ between ranks: the result is the mean over
  /// all samples. `of_all` is about their total; 0: unknown. Returns the factor by which backward must multiply the
  /// loss: at most about samples / of_all, as one process has it, because 16-bit gradients would overflow otherwise.
  /// When gradients are copied to their places, they are multiplied by the unit, a power of two. If backward adds up
  /// gradients of several ranks, these must pass the same `of_all`, so that they have one unit.
  [[nodiscard]] double weigh(double samples, double of_all);
  /// The next backward is of a sum over `samples` samples: the result is the sum over all ranks.
  void add_up(double samples);

  struct Finish {
    double scale = 1;      ///< factor of the loss: gradients are divided by it
    bool failed = false;   ///< a gradient of this rank was not finite in an earlier batch
    bool thawed = false;   ///< a parameter on this rank requires gradients but did not at construction
    bool unused = false;   ///< nothing has used this rank's previous gradients of complex parameters
    bool written = false;  ///< operations have written weights on this rank that ranks hold in common
  };
  /// Sends the remaining gradients, waits, divides by the scale and by the samples, and resets the state for the next
  /// batch. A parameter without a gradient counts as zero, or keeps none if no rank has one. Returns whether the
  /// gradients of all ranks were finite, and none had failed; if not, they are undefined. Collective over the scope.
  [[nodiscard]] bool finish(const Finish& options);
  /// Whether a rank of the scope had a parameter that was no longer frozen.
  [[nodiscard]] bool thawed() const { return thawed_; }
  /// Whether a rank of the scope had previous gradients of complex parameters that nothing has used.
  [[nodiscard]] bool unused() const { return unused_; }
  /// Whether a rank of the scope had weights that were written in place.
  [[nodiscard]] bool written() const { return written_; }

  /// Returns the parameter, the first from the end, whose gradient on this rank was not finite in the last batch.
  [[nodiscard]] const std::optional<std::size_t>& bad() const { return bad_; }
  /// Returns the samples of the last gradients, over all ranks of the scope; 0 if they were not weighted.
  [[nodiscard]] double samples() const { return samples_of_all_; }
  /// Returns the sum of a number over the ranks of the scope. Collective over these.
  [[nodiscard]] double sum_over_scope(double number) const;
  /// Whether this rank had no samples.
  [[nodiscard]] bool idle() const { return own_samples_ == 0; }
  /// Returns the number of this rank's samples; 1 if they were not weighted.
  [[nodiscard]] double own_samples() const { return own_samples_; }
  /// Returns the rounding errors of the wire, one tensor for each bucket with a narrower wire.
  [[nodiscard]] std::vector<at::Tensor> residuals() const;

 private:
  /// Sums of a bucket of gradients, set up once for many batches.
  struct Planned {
    Scope scope;
    ReduceOp op;
    AllreducePlan sums;
  };
  struct Way {
    std::size_t missing = 0;   // gradients of its bucket that backward has not computed yet
    at::Tensor residual = {};  // undefined without a narrower wire
    std::optional<Planned> planned = {};
    Request request = {};  // used if ranks get only their shares
    void wait();
    [[nodiscard]] bool test();
  };

  void add_hook(std::size_t parameter);
  void arrived(std::size_t parameter);
  void take(std::size_t parameter);
  void launch_next();
  void launch(std::size_t bucket);
  void keep_shares(std::size_t most_under_way);
  void keep_share(std::size_t bucket);
  [[nodiscard]] AllreduceOptions options_of(std::size_t bucket) const;
  [[nodiscard]] AllreducePlan plan(std::size_t bucket) const;
  void inspect(std::size_t bucket);
  void begin_weighed(double samples);
  [[nodiscard]] double divisor();
  void land(double divisor);
  void settle();
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return flat_.parameters(); }
  [[nodiscard]] const Topology& group() const { return *scope_ == Scope::node ? node_ : all_; }
  [[nodiscard]] bool travels() const { return scope_ && group().comm().size() > 1; }
  /// Whether ranks get only their shares of the sums.
  [[nodiscard]] bool scatters() const {
    return shares_ && scope_ == shared_by_ && !reproducible_ && wire_ == Wire::float32;
  }
  [[nodiscard]] ReduceOp op() const { return weighed_ ? ReduceOp::sum : ReduceOp::mean; }

  /// What ranks tell each other in addition to which gradients they had.
  enum Status { samples_place, sums_place, failed_place, thawed_place, unused_place, written_place, places };
  [[nodiscard]] double& status(Status place) { return status_[parameters().size() + place]; }

  struct Hook {
    decltype(torch::autograd::impl::grad_accumulator({})) accumulator;  // LibTorch 2.15 has its own pointers for nodes
    std::uintptr_t key;
  };

  const FlatParameters& flat_;
  const Shares* shares_ = nullptr;
  std::span<const Piece> pieces_ = {};
  Scope shared_by_ = Scope::all;
  bool waits_ = false;
  Topology node_, all_;
  Wire wire_;
  bool reproducible_;
  std::vector<Hook> hooks_;
  std::vector<Way> ways_;  // one for each bucket
  std::vector<std::size_t> bucket_of_;
  std::mutex mutex_;  // backward runs hooks of GPU parameters in its own threads

  // State of the current batch.
  std::optional<Scope> scope_;
  std::vector<char> arrived_;
  std::size_t launched_ = 0;    // number of buckets
  std::size_t kept_ = 0;        // number of those whose sum has arrived; if weights are in common
  std::vector<double> status_;  // for each parameter whether it had a gradient, then the places of Status
  bool weighed_ = false, thawed_ = false, unused_ = false, written_ = false;
  double unit_ = 0;         // factor of gradients when they are copied to their places; 0: none so far
  at::Tensor factor_ = {};  // unit_ as a tensor; undefined for 1 and for none
  double samples_ = 0, own_samples_ = 1, samples_of_all_ = 0;
  std::optional<std::size_t> bad_;
};

}  // namespace detail
}  // namespace heatpp::nn
