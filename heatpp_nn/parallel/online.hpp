#pragma once

#include <heatpp_nn/losses/detail/weighed_loss.hpp>
#include <heatpp_nn/training/inference.hpp>

#include <map>

namespace torch::optim {
class Optimizer;
}

namespace heatpp::nn {

class DASO;

/// Stores rows of a stream, on each rank up to its capacity. Every row that was offered on this rank is kept with equal
/// probability (reservoir sampling, Vitter 1985), so the past of a simulation is not forgotten. The buffers of all
/// ranks together are the memory; batches of all ranks together are drawn from it. Local.
class ReplayBuffer {
 public:
  /// Stores `capacity` rows on each rank. Throws ValueError if it is less than one.
  ReplayBuffer(std::int64_t capacity, std::uint64_t seed);

  /// Offers rows of all fields that belong together. Throws ValueError if their numbers or shapes differ from those
  /// before, and if there is no input or no target.
  void add(const Tensors& inputs, const Tensors& targets);
  void add(const at::Tensor& inputs, const at::Tensor& targets) { add(Tensors{inputs}, Tensors{targets}); }
  /// Draws `count` rows with replacement. Throws ValueError if there are none.
  [[nodiscard]] Batch sample(std::int64_t count);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t offered() const { return offered_; }
  /// Returns the state, for the extras of a checkpoint.
  [[nodiscard]] std::map<std::string, at::Tensor> state() const;
  /// Restores a state. Throws ValueError if it is no such state, or has more rows than fit.
  void set_state(const std::map<std::string, at::Tensor>& state);

 private:
  [[nodiscard]] std::int64_t place_of_next();
  void check(const Tensors& fields, std::size_t inputs);

  std::int64_t capacity_, size_ = 0, offered_ = 0;
  std::uint64_t seed_, drawn_ = 0;
  Tensors fields_;  // inputs before targets
  std::size_t inputs_ = 0;
};

struct OnlineOptions {
  std::int64_t capacity = 4096;  ///< rows that each rank stores
  std::int64_t batch_size = 32;  ///< rows of each rank in a batch
  std::int64_t updates = 1;      ///< batches for each train_step
  std::uint64_t seed = 0;
};

/// Trains a network on the output of a running simulation, through the simulation's own communicator:
///     trainer.train_step(before, after);  // after each step of the solver
class OnlineTrainer {
 public:
  /// The loss of a batch on this rank: a function of inputs and targets that calls the network itself (the Trainer's
  /// gets outputs). It takes one tensor of each, or `Tensors`, and returns a mean over rows, or a LossValue.
  using Loss = nn::Loss;
  /// `daso` or `replica` and `optimizer` must outlive this object. Collective. Throws ValueError on all ranks for
  /// options out of range, and if `updates` or the optimizer's options differ between ranks.
  OnlineTrainer(DASO& daso, Loss loss, const OnlineOptions& options = {});
  OnlineTrainer(Replica& replica, torch::optim::Optimizer& optimizer, Loss loss, const OnlineOptions& options = {});

  /// Stores the rows along axis 0 and trains on batches drawn from all stored rows. Returns this rank's mean loss. A
  /// rank without stored rows takes part without a batch, and returns NaN; its loss is called with zero rows if layers
  /// normalise over all ranks. Collective. Throws ValueError for a loss without a gradient, and for rows with other
  /// fields, shapes or dtypes than before. In the first step, ranks also compare the fields, and an error on one rank
  /// is thrown on all.
  double train_step(const at::Tensor& inputs, const at::Tensor& targets);
  /// Takes several fields: train_step({velocity, forcing}, {pressure}).
  double train_step(const Tensors& inputs, const Tensors& targets);
  /// Takes arrays with the same number of rows. Arrays not split along axis 0 as the first one that is are recut.
  double train_step(const DNDarray& inputs, const DNDarray& targets);
  double train_step(const std::vector<DNDarray>& inputs, const std::vector<DNDarray>& targets);

  [[nodiscard]] ReplayBuffer& buffer() { return buffer_; }

 private:
  /// Returns the rows of this rank in a batch.
  [[nodiscard]] std::int64_t rows() const { return buffer_.size() > 0 ? options_.batch_size : 0; }
  void together(const std::function<void()>& work) const;
  void remember(const Tensors& inputs, const Tensors& targets);
  detail::WeighedLoss draw_loss();
  double update();

  Replica& replica_;
  Loss loss_;
  OnlineOptions options_;
  ReplayBuffer buffer_;
  std::function<void()> clear_;
  std::function<void(double)> step_;
  bool begun_ = false;
};

}  // namespace heatpp::nn
