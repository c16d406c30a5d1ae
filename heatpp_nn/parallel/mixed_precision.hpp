#pragma once

#include <heatpp_nn/parallel/replica.hpp>

namespace heatpp::nn {

/// While it exists, LibTorch computes what loses little accuracy (products, convolutions) in 16 bits on this thread:
///     at::Tensor loss;
///     { const Autocast half; loss = at::mse_loss(model(x), y); }
///     loss.backward();
/// Weights, gradients and optimizer stay float32.
class Autocast {
 public:
  explicit Autocast(Dtype dtype = Dtype::bfloat16, const at::Device& device = at::Device("cpu"));
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool was_enabled_;
  at::ScalarType former_;
};

struct GradScalerOptions {
  double initial = 65536;
  double growth = 2, backoff = 0.5;     ///< factors of the scale after many finite batches, and after an overflow
  std::int64_t growth_interval = 2000;  ///< consecutive finite batches
};

/// Prevents underflow of small float16 gradients: it multiplies the loss by a scale, and divides the averaged gradients
/// by it. If gradients overflow on any rank, all ranks skip the batch. (Micikevicius et al. 2018)
///     scaler.scale(loss).backward();
///     if (scaler.finish(model)) model.update(optimizer);
/// With DASO, pass it in the options. DASO calls `finish` itself. A node whose gradients overflow skips the batch:
///     scaler.scale(loss).backward();
///     daso.step(loss);
class GradScaler {
 public:
  /// Throws ValueError if growth does not increase the scale or backoff does not decrease it.
  explicit GradScaler(const GradScalerOptions& options = {});

  [[nodiscard]] at::Tensor scale(const at::Tensor& loss) const;
  /// Waits for the gradients' mean and divides it by the scale. Returns false, and lowers the scale, if it is not
  /// finite. Collective.
  [[nodiscard]] bool finish(Replica& replica);

  /// Takes the smallest scale of all ranks, after groups of them have trained independently. Collective.
  void agree(const Communicator& comm);

  struct State {
    double scale = 1;
    std::int64_t good = 0;  ///< batches since the scale changed
  };
  [[nodiscard]] const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  GradScalerOptions options_;
  State state_;
};

}  // namespace heatpp::nn
