#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_nn/parallel/detail/flat.hpp>
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

/// Averages the gradients of a list of parameters over ranks, while backward still computes others. Parameters are
/// put into buckets from the last to the first, since backward ends with the first layer; a bucket sets out as soon as
/// all its gradients are there and the buckets before it have set out. So all ranks start the same messages in the same
/// order, whichever parameters a rank used. Gradients on the CPU are reduced where they are; those on a GPU, which are
/// many small ones to its library, or that leave the node by a narrower wire, in a copy beside them.
class GradientAverage {
 public:
  GradientAverage(std::vector<at::Tensor> parameters, const Topology& node, const Topology& all,
                  const GradientOptions& options);
  ~GradientAverage();
  GradientAverage(const GradientAverage&) = delete;
  GradientAverage& operator=(const GradientAverage&) = delete;

  /// Whither the gradients of the next backward go; nullopt: they stay. Throws ValueError where some are under way.
  void send_to(std::optional<Scope> scope);
  [[nodiscard]] std::optional<Scope> scope() const { return scope_; }
  /// The next backward computes the sum over so many samples, more or fewer than on other ranks: what comes out is the
  /// sum over all ranks, divided by the samples of all.
  void weigh(double samples);

  /// Sends what backward left over, waits, and clears the way for the next batch. A parameter without a gradient counts
  /// as zero, or keeps none if no rank has one. Returns whether the gradients of all ranks were finite; if not, they
  /// are undefined. Collective over the scope.
  [[nodiscard]] bool finish();

  /// The first parameter whose own gradient on this rank was not finite.
  [[nodiscard]] const std::optional<std::size_t>& bad() const { return bad_; }
  /// Samples behind the last gradients, over all ranks of the scope; 0 where they were not weighed.
  [[nodiscard]] double samples() const { return samples_of_all_; }
  /// Whether this rank had none of them.
  [[nodiscard]] bool idle() const { return idle_; }
  [[nodiscard]] std::int64_t bytes() const;
  /// What rounding for the wire took away, a tensor for each bucket that has a narrower wire.
  [[nodiscard]] std::vector<at::Tensor> residuals() const;

 private:
  struct Bucket {
    std::vector<std::size_t> parameters = {};
    std::int64_t count = 0;
    std::size_t missing = 0;               // gradients that backward has not produced yet
    std::optional<FlatBuffers> copy = {};  // where they are reduced, unless that is always where they are
    at::Tensor residual = {};              // undefined without a narrower wire
    std::vector<Request> requests = {};
  };

  void make_buckets(const GradientOptions& options);
  void add_hook(std::size_t parameter);
  void arrived(std::size_t parameter);
  void inspect(std::size_t parameter);
  [[nodiscard]] bool copied(const Bucket& bucket) const;
  void launch(Bucket& bucket);
  void launch_copy(Bucket& bucket);
  void land(Bucket& bucket);
  void settle();
  [[nodiscard]] const Topology& group() const { return *scope_ == Scope::node ? node_ : all_; }
  [[nodiscard]] bool travels() const { return scope_ && group().comm().size() > 1; }
  [[nodiscard]] ReduceOp op() const { return weighed_ ? ReduceOp::sum : ReduceOp::mean; }

  struct Hook {
    std::shared_ptr<torch::autograd::Node> accumulator;
    std::uintptr_t key;
  };

  std::vector<at::Tensor> parameters_;
  Topology node_, all_;
  Dtype wire_;
  bool reproducible_;
  std::vector<Hook> hooks_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;
  std::mutex mutex_;  // backward runs hooks of GPU parameters in threads of its own

  // The batch under way.
  std::optional<Scope> scope_;
  std::vector<char> arrived_;
  std::size_t launched_ = 0;    // buckets
  std::vector<double> status_;  // for each parameter whether a gradient was there; samples; gradients not finite
  bool weighed_ = false, idle_ = false;
  double samples_ = 0, samples_of_all_ = 0;
  std::optional<std::size_t> bad_;
};

}  // namespace detail
}  // namespace heatpp::nn
