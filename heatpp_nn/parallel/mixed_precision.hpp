#pragma once

#include <heatpp_nn/parallel/replica.hpp>

namespace heatpp::nn {

/// While it lives, LibTorch computes what loses little by it (products, convolutions) in a 16-bit type on this thread:
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
  double growth = 2, backoff = 0.5;     ///< factors of the scale after many good batches, and after a bad one
  std::int64_t growth_interval = 2000;  ///< good batches in a row
};

/// Keeps small gradients of float16 from vanishing: the loss is scaled up, and gradients down again after they were
/// averaged. A batch whose gradients overflow on any rank is left out on all. (Micikevicius et al. 2018)
///     scaler.scale(loss).backward();
///     if (scaler.finish(model)) model.update(optimizer);
/// With DASO, which calls `finish` itself, it is named in the options, and what it left out is its node's:
///     scaler.scale(loss).backward();
///     daso.step(loss);
class GradScaler {
 public:
  /// Throws ValueError for factors that do not grow and shrink.
  explicit GradScaler(const GradScalerOptions& options = {});

  [[nodiscard]] at::Tensor scale(const at::Tensor& loss) const;
  /// Waits for the gradients' mean and scales it back. Returns false, and lowers the scale, where it is not finite.
  /// Collective.
  [[nodiscard]] bool finish(Replica& replica);

  /// Takes the smallest scale of all ranks, where groups of them have gone on by themselves. Collective.
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
