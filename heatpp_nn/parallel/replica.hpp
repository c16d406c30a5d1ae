#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/comm/topology.hpp>
#include <heatpp_nn/parallel/detail/gradient_average.hpp>

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}
namespace heatpp::nn::detail {
class ComplexWatch;
}

namespace heatpp::nn {

/// What becomes of floating-point buffers, such as BatchNorm's statistics, where ranks are made equal.
enum class BufferPolicy {
  average,  ///< their mean over all ranks
  rank0     ///< those of rank 0
};

struct ReplicaOptions {
  bool broadcast = true;  ///< give every rank the weights of rank 0; otherwise they must be equal already
  GradientOptions gradients = {};
  BufferPolicy buffers = BufferPolicy::average;
  /// The ranks that share out the optimizer's work and state, each with a part of every parameter (ZeRO-1, Rajbhandari
  /// et al. 2020): all, or those of a node, which DASO needs. Gradients then arrive at their owner only, and `update`
  /// gives the new weights to all. For optimizers that treat every element alike, as SGD and Adam do. nullopt: none do.
  std::optional<Scope> shard = std::nullopt;
};

/// This rank's copy of a module that all ranks of a topology train together. `DataParallel` and `DataParallelMultiGPU`
/// are replicas that know the module's type. What is trained is what requires gradients at construction, each tensor
/// once; what is on a GPU travels as its communicator carries device memory (docs/communication.md).
///
/// The parameters are moved into flat memory, where they lie end to end, and so do their gradients: N bytes of each,
/// and no other copy. Gradients set out while `backward()` still runs, and are averaged by the time that
/// `finish_gradients()` returns. Until then parameters have none, and another backward throws and leaves them be.
class Replica {
 public:
  /// Collective. Changes weights and buffers by nothing but the broadcast from rank 0. Throws ValueError on all ranks
  /// where the modules differ in names, shapes, dtypes or frozen parameters, or the weights after that, and where two
  /// parameters share memory.
  Replica(std::shared_ptr<torch::nn::Module> module, const Topology& topology, const ReplicaOptions& options = {});
  ~Replica();
  Replica(Replica&&) noexcept;
  Replica& operator=(Replica&&) noexcept;

  [[nodiscard]] const std::shared_ptr<torch::nn::Module>& shared_module() const { return module_; }
  [[nodiscard]] const Topology& topology() const { return topology_; }
  /// What is trained, for the optimizer: the parameters, complex ones as real numbers with an axis of two behind the
  /// others; or where ranks share its work the pieces that this one owns, flat, of which there may be none.
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return optimized_; }
  /// The same of a part of the module, for groups of parameters with options of their own.
  [[nodiscard]] std::vector<at::Tensor> parameters(const torch::nn::Module& part) const;
  [[nodiscard]] const std::optional<Scope>& shard() const { return shard_; }
  [[nodiscard]] std::int64_t gradient_bytes() const { return flat_->bytes(); }

  /// Over which ranks the gradients of the next backward are averaged, at first all; nullopt: they stay as they are.
  /// Throws ValueError where gradients are under way, and for fewer than the ranks that share the optimizer. Local.
  void send_gradients(std::optional<Scope> scope);

  /// While the guard lives, backward adds to the gradients of this rank and sends nothing:
  ///     { const auto guard = model.no_sync(); loss(model(x1), y1).backward(); }
  ///     loss(model(x2), y2).backward();  // the sum of both is averaged
  class NoSync {
   public:
    explicit NoSync(detail::GradientAverage& gradients) : gradients_(gradients), scope_(gradients.scope()) {
      gradients_.send_to(std::nullopt);
    }
    ~NoSync() { gradients_.send_to(scope_); }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    detail::GradientAverage& gradients_;
    std::optional<Scope> scope_;
  };
  [[nodiscard]] NoSync no_sync() { return NoSync(*gradients_); }

  /// Backward of a mean loss over `samples` rows, where ranks have different numbers of them: the gradients become
  /// those of the mean over all rows. A mean by weights passes their sum in place of the rows. A rank without rows
  /// passes 0 and any loss. With `no_sync`, what several calls have counts together. All ranks call it, or none. Throws
  /// ValueError for numbers below 0. Local; with layers that normalise over several ranks a sum of one number over
  /// these.
  void backward(const at::Tensor& loss, double samples);
  /// Every rank also passes how many samples all of them have, or 0 if it does not know. Gradients of float16 then
  /// overflow where those of one process would, even if ranks have very different numbers of samples. Local.
  void backward(const at::Tensor& loss, double samples, double of_all);
  /// Backward of a loss that is a sum over `samples` rows: the gradients become those of the sum over all ranks. Throws
  /// the same. Local.
  void backward_sum(const at::Tensor& loss, double samples);

  /// Waits for the gradients' mean over the ranks; every rank of the scope gets the same bits. A parameter without a
  /// gradient on some ranks counts as zero there; one that has none anywhere keeps none. Gradients are views of one
  /// buffer then, which the next batch writes to. They are divided by `scale`, by which the loss was multiplied.
  /// Returns false where a gradient of some rank is not finite, or one of them says that it `failed` before: then all
  /// are undefined. Throws ValueError on all ranks where a parameter that was frozen requires gradients by now, and
  /// where nobody has stepped by the gradients that complex parameters had in the first batch, as an optimizer of the
  /// module's own parameters does not. Collective over the scope.
  [[nodiscard]] bool finish_gradients(double scale = 1, bool failed = false);
  /// Lets the optimizer step and, where ranks share its work, gives every rank the others' new weights: in place of
  /// `optimizer.step()`. Collective then and the first time, otherwise local. Throws ValueError where the optimizer has
  /// other tensors than `parameters()`, and the first time on all ranks where it differs between them, as `agree_on`.
  void update(torch::optim::Optimizer& optimizer);
  /// Scales the gradients so that the 2-norm of all together, as far as it is larger, becomes `max_norm`, and returns
  /// what it was: `clip_grad_norm_`, also where ranks share them. All ranks pass the same. Collective then, otherwise
  /// local.
  double clip_gradients(double max_norm);
  /// The name of the parameter whose own gradient on this rank was not finite in the last batch; empty if all were.
  [[nodiscard]] std::string not_finite() const;
  /// The rows of all ranks behind the gradients, as `backward(loss, samples)` was told; 0 where it was not used.
  [[nodiscard]] double samples() const { return gradients_->samples(); }
  /// Whether this rank passed 0 to it.
  [[nodiscard]] bool idle() const { return gradients_->idle(); }
  /// What narrower wires took away from the gradients so far and will give back.
  [[nodiscard]] std::vector<at::Tensor> residuals() const { return gradients_->residuals(); }
  /// Throws ValueError on all ranks, naming a rank and its `parameter` whose gradient was not finite, if it has one.
  /// Collective over all. To be called once such a mean was seen.
  [[noreturn]] void throw_not_finite(std::string_view op, const std::string& parameter) const;
  [[noreturn]] void throw_not_finite(std::string_view op) const { throw_not_finite(op, not_finite()); }

  /// Makes the buffers of all ranks equal, by the policy for floating-point ones; others become rank 0's. The mean of
  /// `running_var` beside a `running_mean`, as BatchNorm has them, has the variance of these means in it: it is that of
  /// all ranks' rows together. Between calls each rank keeps its own. Collective.
  void average_buffers();
  /// By how many rows `running_mean` and `running_var` of this rank count there; nullopt: by those trained since the
  /// last call, as `backward(loss, samples)` was told, or 1 for each batch. Ranks without rows do not count. Local.
  void weigh_buffers(std::optional<double> rows) { said_rows_ = rows; }

  /// CRC-32C of all parameters and buffers. Local.
  [[nodiscard]] std::uint32_t checksum() const;
  /// Whether the weights and buffers of all ranks are equal to the bit. Collective.
  [[nodiscard]] bool equal_on_all_ranks() const;

  /// Replaces numbers of pieces, `each` of them behind one another for every tensor of `tensors`, by their sums over
  /// all pieces of the same parameter: for norms of whole parameters where ranks share them. Collective then, and every
  /// rank passes tensors of its `parameters()`; otherwise nothing is done.
  void add_up_pieces(std::span<const at::Tensor> tensors, std::span<double> numbers, std::size_t each) const;

  // For the Trainer, DASO, running means and checkpoints.
  /// The sum of a number over the ranks that average the gradients of the next backward. Collective over these.
  [[nodiscard]] double sum_over_scope(double number) const { return gradients_->sum_over_scope(number); }
  /// Throws ValueError where ranks share the optimizer's work and this one has other tensors than this rank's pieces,
  /// and for an optimizer of complex tensors.
  void check(const torch::optim::Optimizer& optimizer) const;
  /// The same on all ranks, also for optimizers that differ between them in class, groups or options, as the rate.
  /// TypeError for LBFGS, which needs a closure. Collective.
  void agree_on(const char* op, const torch::optim::Optimizer& optimizer) const;
  /// Each once.
  [[nodiscard]] const std::vector<at::Tensor>& buffers() const { return buffers_; }
  [[nodiscard]] std::vector<at::Tensor> floating_buffers() const;
  /// Makes tensors that stand for `floating_buffers()` equal on all ranks, as `average_buffers` does. Collective.
  void average_statistics(const std::vector<at::Tensor>& tensors) const;
  /// Names, dtypes and shapes of parameters and buffers, in text.
  [[nodiscard]] std::string structure() const;
  [[nodiscard]] const std::vector<at::Tensor>& frozen() const { return frozen_; }
  [[nodiscard]] detail::FlatParameters& flat() const { return *flat_; }
  [[nodiscard]] detail::Ownership& ownership() const { return *owned_; }
  /// Gives every rank the weights of the others' shares: of all where these share the optimizer, else of the node.
  void spread();
  /// The mean over all ranks, of the weights and of tensors that go with what the optimizer has; returns their bytes.
  [[nodiscard]] std::int64_t average_weights(std::vector<at::Tensor> also);

 private:
  void check_structure(const ReplicaOptions& options) const;
  void check_complex(const torch::optim::Optimizer& optimizer) const;
  void share_out();
  void run_backward(const at::Tensor& loss, double samples, double factor, bool together) const;
  [[nodiscard]] std::optional<double> share_of_rows() const;

  std::shared_ptr<torch::nn::Module> module_;
  Topology topology_;
  BufferPolicy policy_;
  std::optional<Scope> shard_;
  std::vector<std::string> names_;  // of the trained parameters
  std::vector<at::Tensor> trained_, frozen_;
  std::vector<at::Tensor> optimized_;   // or pieces of them
  std::vector<at::Tensor> everything_;  // parameters and buffers, each once
  std::vector<at::Tensor> buffers_;
  std::vector<std::string> buffer_names_;
  std::unique_ptr<detail::FlatParameters> flat_;
  std::unique_ptr<detail::Ownership> owned_;
  std::unique_ptr<detail::GradientAverage> gradients_;
  std::unique_ptr<detail::ComplexWatch> complex_;
  bool updated_ = false;   // whether the ranks' optimizers have been compared
  bool outdated_ = false;  // the weights, where other ranks have updated their share
  double rows_ = 0;        // trained since buffers were averaged
  std::optional<double> said_rows_ = {};
};

}  // namespace heatpp::nn
