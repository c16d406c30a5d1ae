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

/// How floating-point buffers, such as BatchNorm's statistics, are made equal on all ranks.
enum class BufferPolicy {
  average,  ///< their mean over all ranks
  rank0     ///< those of rank 0
};

struct ReplicaOptions {
  bool broadcast = true;  ///< give every rank the weights of rank 0; otherwise they must be equal already
  GradientOptions gradients = {};
  BufferPolicy buffers = BufferPolicy::average;
  /// The ranks that share the optimizer's work and state, each with a part of every parameter (ZeRO-1, Rajbhandari et
  /// al. 2020): all, or those of a node, as DASO requires. Gradients then arrive only at their owner, and `update`
  /// gives the new weights to all. For optimizers that act element by element, as SGD and Adam. nullopt: none.
  std::optional<Scope> shard = std::nullopt;
  /// The ranks of a node also share weights and gradients (ZeRO-3): they read one copy of the weights, also of frozen
  /// ones, in memory that they have in common. Each changes its share of it, and keeps its share of the gradients.
  /// Needs `shard`, by node or with equal nodes, and weights on the CPU.
  bool shard_weights = false;
};

/// This rank's copy of a module that all ranks of a topology train together. `DataParallel` and `DataParallelMultiGPU`
/// are replicas that know the module's type. All tensors that require gradients at construction are trained, each once.
/// Tensors on a GPU travel as its communicator carries device memory (docs/communication.md).
///
/// The parameters are moved into flat memory, where they lie end to end, and so do their gradients: N bytes of each,
/// and no other copy. Gradients are sent while `backward()` still runs; their means are complete after
/// `finish_gradients()`. Until then parameters have no gradients; another backward throws and changes nothing.
class Replica {
 public:
  /// Changes weights and buffers only by the broadcast from rank 0. Collective. Throws ValueError on all ranks if the
  /// modules differ in names, shapes, dtypes or frozen parameters, or afterwards in weights, and if two parameters
  /// share memory; also for `shard_weights` without `shard` by node, on a GPU, or without enough memory in /dev/shm.
  Replica(std::shared_ptr<torch::nn::Module> module, const Topology& topology, const ReplicaOptions& options = {});
  ~Replica();
  Replica(Replica&&) noexcept;
  Replica& operator=(Replica&&) noexcept;

  [[nodiscard]] const std::shared_ptr<torch::nn::Module>& shared_module() const { return module_; }
  [[nodiscard]] const Topology& topology() const { return topology_; }
  /// Returns the tensors for the optimizer: the trained parameters, complex ones as real numbers with an axis of two at
  /// the end; or, if ranks share the optimizer's work, this rank's pieces, flat, of which there may be none.
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return optimized_; }
  /// Returns the tensors of a part of the module, for groups of parameters with different options.
  [[nodiscard]] std::vector<at::Tensor> parameters(const torch::nn::Module& part) const;
  /// Returns the tensors of some parameters of the module, in its order.
  [[nodiscard]] std::vector<at::Tensor> parameters(const std::vector<at::Tensor>& some) const;
  [[nodiscard]] const std::optional<Scope>& shard() const { return shard_; }
  /// Whether the ranks of a node share weights and gradients, too.
  [[nodiscard]] bool shards_weights() const { return flat_->in_common(); }
  /// Runs operations that write weights in place. If ranks share the weights, one rank of each node runs them for all,
  /// otherwise every rank does. Collective. Throws on all ranks if `change` throws on one.
  void change_weights(const std::function<void()>& change);
  [[nodiscard]] std::int64_t gradient_bytes() const { return flat_->bytes(); }

  /// Sets the ranks over which the next gradients are averaged, initially all; nullopt: none. Local. Throws ValueError
  /// if gradients are under way, and for fewer ranks than those that share the optimizer.
  void send_gradients(std::optional<Scope> scope);

  /// While the guard exists, backward adds to the gradients of this rank and sends nothing:
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

  /// Runs backward of a mean loss over `samples` rows, if ranks have different numbers of them: the result is the
  /// gradients of the mean over all rows. For a weighted mean, pass the sum of the weights. A rank without rows passes
  /// 0 and any loss. With `no_sync`, the samples of several calls add up. Either all ranks call it, or none. Throws
  /// ValueError for negative numbers. Local, except for layers that normalise over several ranks: then one sum of a
  /// number over these.
  void backward(const at::Tensor& loss, double samples);
  /// Also takes the number of samples on all ranks, or 0 if it is unknown. Gradients of float16 then overflow only if
  /// those of one process would, even if ranks have very different numbers of samples. Local.
  void backward(const at::Tensor& loss, double samples, double of_all);
  /// Runs backward of a loss that is a sum over `samples` rows: the result is the gradients of the sum over all ranks.
  /// Throws as `backward`. Local.
  void backward_sum(const at::Tensor& loss, double samples);

  /// Waits for the gradients' mean over the ranks; every rank of the scope gets the same bits. A parameter without a
  /// gradient on some ranks counts as zero there; if no rank has one, it keeps none. The gradients are then views of
  /// one buffer, which the next batch overwrites. They are divided by `scale`, the factor of the loss. Returns false if
  /// a gradient of any rank is not finite, or if a rank says that it `failed` before; then all are undefined. Throws
  /// ValueError on all ranks if a frozen parameter requires gradients now, if shared weights were written in place
  /// outside of `change_weights`, and if no optimizer has used the gradients of complex parameters in the first batch,
  /// e.g. because it has the module's own parameters. Collective over the scope.
  [[nodiscard]] bool finish_gradients(double scale = 1, bool failed = false);
  /// Steps the optimizer and, if ranks share its work, gives all ranks the new weights. Call it instead of
  /// `optimizer.step()`. Collective at the first call and if ranks share the work, otherwise local. Throws ValueError
  /// for other tensors than `parameters()`, and at the first call as `agree_on` if optimizers differ between ranks.
  void update(torch::optim::Optimizer& optimizer);
  /// Scales the gradients so that their common 2-norm is at most `max_norm`, and returns the former norm:
  /// `clip_grad_norm_`, also if ranks share the gradients. All ranks pass the same value. Collective if ranks share the
  /// optimizer's work, otherwise local.
  double clip_gradients(double max_norm);
  /// Returns the name of the parameter whose gradient on this rank was not finite in the last batch; empty if none.
  [[nodiscard]] std::string not_finite() const;
  /// Returns the rows of all ranks in the gradients, as passed to `backward(loss, samples)`; 0 without a call.
  [[nodiscard]] double samples() const { return gradients_->samples(); }
  /// Whether this rank passed 0 samples.
  [[nodiscard]] bool idle() const { return gradients_->idle(); }
  /// Returns the rounding errors of narrower wires, which are added to later gradients.
  [[nodiscard]] std::vector<at::Tensor> residuals() const { return gradients_->residuals(); }
  /// Throws ValueError on all ranks that names a rank and its `parameter` whose gradient was not finite, if there is
  /// one. Call it after such a mean. Collective over all ranks.
  [[noreturn]] void throw_not_finite(std::string_view op, const std::string& parameter) const;
  [[noreturn]] void throw_not_finite(std::string_view op) const { throw_not_finite(op, not_finite()); }

  /// Makes the buffers of all ranks equal: floating-point ones by the policy, others become rank 0's. The mean of a
  /// `running_var` beside a `running_mean`, as in BatchNorm, includes the variance of the means: it is the variance of
  /// all ranks' rows together. Between calls each rank keeps its own buffers. Collective.
  void average_buffers();
  /// Sets this rank's weight for `running_mean` and `running_var` as a number of rows; nullopt: the rows trained since
  /// the last call, as passed to `backward(loss, samples)`, or 1 per batch. Ranks without rows have weight 0. Local.
  void weigh_buffers(std::optional<double> rows) { said_rows_ = rows; }

  /// Returns the CRC-32C of all parameters and buffers. Local.
  [[nodiscard]] std::uint32_t checksum() const;
  /// Whether the weights and buffers of all ranks are equal to the bit. Collective.
  [[nodiscard]] bool equal_on_all_ranks() const;

  /// Replaces `each` numbers per tensor of `tensors`, stored one after another, by their sums over all pieces of the
  /// same parameter: for norms of whole parameters. If ranks share the parameters it is collective, and every rank
  /// passes tensors of its `parameters()`; otherwise it does nothing.
  void add_up_pieces(std::span<const at::Tensor> tensors, std::span<double> numbers, std::size_t each) const;

  /// Gathers what the ranks that share the optimizer's work have in the gradients of their pieces: every rank then has
  /// it for whole parameters, in `flat().gradient(i)`, until `update`. Collective over these ranks; without such ranks
  /// it does nothing.
  void gather_gradients() const;

  // For the Trainer, DASO, running means and checkpoints.
  /// Returns the sum of a number over the ranks that average the next gradients. Collective over these.
  [[nodiscard]] double sum_over_scope(double number) const { return gradients_->sum_over_scope(number); }
  /// Throws ValueError if ranks share the optimizer's work and this one has other tensors than this rank's pieces, and
  /// for an optimizer of complex tensors.
  void check(const torch::optim::Optimizer& optimizer) const;
  /// Throws as `check` on all ranks, and also if optimizers differ between ranks in class, groups or options, e.g. the
  /// rate. Throws TypeError for LBFGS, which needs a closure. Collective.
  void agree_on(const char* op, const torch::optim::Optimizer& optimizer) const;
  /// Returns the buffers, each once.
  [[nodiscard]] const std::vector<at::Tensor>& buffers() const { return buffers_; }
  [[nodiscard]] std::vector<at::Tensor> floating_buffers() const;
  /// Makes tensors that correspond to `floating_buffers()` equal on all ranks, as `average_buffers` does. Collective.
  void average_statistics(const std::vector<at::Tensor>& tensors) const;
  /// Returns the names, dtypes and shapes of parameters and buffers as text.
  [[nodiscard]] std::string structure() const;
  [[nodiscard]] const std::vector<at::Tensor>& frozen() const { return frozen_; }
  [[nodiscard]] detail::FlatParameters& flat() const { return *flat_; }
  [[nodiscard]] detail::Ownership& ownership() const { return *owned_; }
  /// Gathers the weights of the ranks' shares: over all ranks if all share the optimizer, otherwise over the node.
  void spread();
  /// Averages the weights, and tensors of the optimizer's state, over all ranks. Returns their number of bytes.
  [[nodiscard]] std::int64_t average_weights(std::vector<at::Tensor> also);
  /// Returns a number that the ranks of this node have in common, also after `move_to`. Local.
  [[nodiscard]] std::int64_t node_number() const { return node_number_; }
  /// If ranks share the optimizer's work, stores which parameters are in which of its groups, for `move_to`. Collective
  /// at the first call.
  void learn_groups(const torch::optim::Optimizer& optimizer) const;
  /// Moves to the remaining ranks after others have ended. The weights stay as they are on each rank. If ranks share
  /// the optimizer's work, it gets the new pieces, without their state. Collective over `topology`.
  void move_to(const Topology& topology, torch::optim::Optimizer& optimizer);

 private:
  void check_structure(const ReplicaOptions& options) const;
  void check_complex(const torch::optim::Optimizer& optimizer) const;
  void run_backward(const at::Tensor& loss, double samples, double factor, bool together) const;
  [[nodiscard]] std::optional<double> share_of_rows() const;
  // These are in detail/replica_shares.cpp, as those above that share, spread and gather.
  void make_flat();
  void share_frozen();
  void share_out();
  // These are in detail/replica_ranks.cpp.
  void arrange();
  void regroup(torch::optim::Optimizer& optimizer) const;

  std::shared_ptr<torch::nn::Module> module_;
  Topology topology_;
  ReplicaOptions options_;
  std::optional<Scope> shard_;
  std::int64_t node_number_ = -1;             // none yet
  mutable std::vector<std::int64_t> groups_;  // for each parameter of the flat memory: its group in the optimizer
  std::vector<std::string> names_;            // names of the trained parameters
  std::vector<at::Tensor> trained_, frozen_;
  std::vector<at::Tensor> optimized_;   // the parameters, or pieces of them
  std::vector<at::Tensor> everything_;  // parameters and buffers, each once
  std::vector<at::Tensor> buffers_;
  std::vector<std::string> buffer_names_;
  std::unique_ptr<detail::FlatParameters> flat_;
  std::optional<detail::FlatBuffers> frozen_flat_;  // if ranks of a node share weights
  std::unique_ptr<detail::Ownership> owned_;
  std::unique_ptr<detail::GradientAverage> gradients_;
  std::unique_ptr<detail::ComplexWatch> complex_;
  bool updated_ = false;   // whether the ranks' optimizers have been compared
  bool outdated_ = false;  // whether other ranks have updated their shares of the weights
  double rows_ = 0;        // rows trained since buffers were averaged
  std::optional<double> said_rows_ = {};
};

}  // namespace heatpp::nn
