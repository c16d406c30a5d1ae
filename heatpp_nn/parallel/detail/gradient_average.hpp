#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_nn/parallel/detail/flat_parameters.hpp>
#include <memory>
#include <mutex>

namespace torch::autograd {
struct Node;
}

namespace heatpp::nn {

/// The ranks between which something is averaged.
enum class Scope { node, all };

/// How gradients travel.
struct GradientOptions {
  std::int64_t bucket_bytes = 4 << 20;  ///< gradients of about so many bytes start their way together
  /// Between nodes: float32, or bfloat16 or int8 for float32 gradients, where what rounding took away is added to the
  /// next batch's.
  Dtype wire = Dtype::float32;
  /// Sums over ranks are exact, and rounded once: the same bits in any order of ranks and on any topology, for up to
  /// twice the bytes. Not with a narrower wire.
  bool reproducible = false;
};

namespace detail {

/// Averages the gradients of parameters over ranks, while backward still computes others. A bucket sets out as soon as
/// all its gradients are there and the buckets before it have set out. So all ranks start the same messages in the same
/// order, whichever parameters a rank used. A gradient that travels is put into its place in the flat memory, and is a
/// view of it once it has landed: what backward shares between parameters comes apart there. Where ranks own shares of
/// the parameters, the pieces of these get their gradients, and the parameters keep none; so do complex ones.
class GradientAverage {
 public:
  GradientAverage(const FlatParameters& flat, const Topology& node, const Topology& all,
                  const GradientOptions& options);
  ~GradientAverage();
  GradientAverage(const GradientAverage&) = delete;
  GradientAverage& operator=(const GradientAverage&) = delete;

  /// From now on this rank owns `pieces`, as `shares` cuts them over the ranks of `scope`. Both have to live as long.
  void share(const Shares& shares, std::span<const Piece> pieces, Scope scope);
  /// Whither the gradients of the next backward go; nullopt: they stay. Throws ValueError where some are under way.
  void send_to(std::optional<Scope> scope);
  [[nodiscard]] std::optional<Scope> scope() const { return scope_; }
  /// The next backward is of a mean over so many samples, more or fewer than on other ranks: what comes out is the mean
  /// over the samples of all. `of_all` is about how many these are; 0: nobody knows. Returns by what backward has to
  /// multiply the loss: at most about samples / of_all, as one process with all samples has it, since gradients of 16
  /// bits would overflow. A power of two, the unit, is made up for when gradients go into their places. Where backward
  /// adds up gradients of several ranks, these pass the same `of_all`, and so have one unit.
  [[nodiscard]] double weigh(double samples, double of_all);
  /// The next backward is of a sum over so many samples: what comes out is the sum over all ranks.
  void add_up(double samples);

  struct Finish {
    double scale = 1;     ///< by which the loss was multiplied: gradients are divided by it
    bool failed = false;  ///< a gradient of this rank was not finite in a batch before
    bool thawed = false;  ///< a parameter of this rank requires gradients that is none of these
    bool unused = false;  ///< nobody has used the gradients that this rank had for complex parameters before
  };
  /// Sends what backward left over, waits, divides by the scale and by the samples, and clears the way for the next
  /// batch. A parameter without a gradient counts as zero, or keeps none if no rank has one. Returns whether the
  /// gradients of all ranks were finite, and none had failed; if not, they are undefined. Collective over the scope.
  [[nodiscard]] bool finish(const Finish& options);
  /// Whether a rank of the scope had a parameter thawed.
  [[nodiscard]] bool thawed() const { return thawed_; }
  /// Whether a rank of the scope had gradients of complex parameters before that nobody has used.
  [[nodiscard]] bool unused() const { return unused_; }

  /// The first parameter, from the last to the first, whose own gradient on this rank was not finite in the last batch.
  [[nodiscard]] const std::optional<std::size_t>& bad() const { return bad_; }
  /// Samples behind the last gradients, over all ranks of the scope; 0 where they were not weighed.
  [[nodiscard]] double samples() const { return samples_of_all_; }
  /// The sum of a number over the ranks of the scope. Collective over these.
  [[nodiscard]] double sum_over_scope(double number) const;
  /// Whether this rank had none of them.
  [[nodiscard]] bool idle() const { return own_samples_ == 0; }
  /// How many this rank had; 1 where they were not weighed.
  [[nodiscard]] double own_samples() const { return own_samples_; }
  /// What rounding for the wire took away, a tensor for each bucket that has a narrower wire.
  [[nodiscard]] std::vector<at::Tensor> residuals() const;

 private:
  /// Sums of a bucket of gradients, set up once for many batches.
  struct Planned {
    Scope scope;
    ReduceOp op;
    AllreducePlan sums;
  };
  struct Way {
    std::size_t missing = 0;   // gradients of its bucket that backward has not produced yet
    at::Tensor residual = {};  // undefined without a narrower wire
    std::optional<Planned> planned = {};
    Request request = {};  // where ranks get no more than their shares
    void wait();
  };

  void add_hook(std::size_t parameter);
  void arrived(std::size_t parameter);
  void take(std::size_t parameter);
  void launch_next();
  void launch(std::size_t bucket);
  [[nodiscard]] AllreducePlan plan(std::size_t bucket) const;
  void inspect(std::size_t bucket);
  void begin_weighed(double samples);
  [[nodiscard]] double divisor();
  void land(double divisor);
  void settle();
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return flat_.parameters(); }
  [[nodiscard]] const Topology& group() const { return *scope_ == Scope::node ? node_ : all_; }
  [[nodiscard]] bool travels() const { return scope_ && group().comm().size() > 1; }
  /// Whether ranks get no more of the sums than their shares.
  [[nodiscard]] bool scatters() const {
    return shares_ && scope_ == shared_by_ && !reproducible_ && wire_ == Dtype::float32;
  }
  [[nodiscard]] ReduceOp op() const { return weighed_ ? ReduceOp::sum : ReduceOp::mean; }

  /// What ranks tell each other beside the gradients that they had.
  enum Status { samples_place, sums_place, failed_place, thawed_place, unused_place, places };
  [[nodiscard]] double& status(Status place) { return status_[parameters().size() + place]; }

  struct Hook {
    std::shared_ptr<torch::autograd::Node> accumulator;
    std::uintptr_t key;
  };

  const FlatParameters& flat_;
  const Shares* shares_ = nullptr;
  std::span<const Piece> pieces_ = {};
  Scope shared_by_ = Scope::all;
  Topology node_, all_;
  Dtype wire_;
  bool reproducible_;
  std::vector<Hook> hooks_;
  std::vector<Way> ways_;  // of the buckets
  std::vector<std::size_t> bucket_of_;
  std::mutex mutex_;  // backward runs hooks of GPU parameters in threads of its own

  // The batch under way.
  std::optional<Scope> scope_;
  std::vector<char> arrived_;
  std::size_t launched_ = 0;    // buckets
  std::vector<double> status_;  // for each parameter whether a gradient was there, then by Status
  bool weighed_ = false, thawed_ = false, unused_ = false;
  double unit_ = 0;         // by which gradients are multiplied when they go into their places; 0: none so far
  at::Tensor factor_ = {};  // the same; undefined for 1 and none
  double samples_ = 0, own_samples_ = 1, samples_of_all_ = 0;
  std::optional<std::size_t> bad_;
};

}  // namespace detail
}  // namespace heatpp::nn
