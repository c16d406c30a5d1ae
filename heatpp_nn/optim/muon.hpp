#pragma once

#include <heatpp_nn/optim/layerwise.hpp>

#include <map>

namespace heatpp::nn {

namespace detail {
struct Piece;
}  // namespace detail

/// Options of Muon.
struct MuonOptions : torch::optim::OptimizerCloneableOptions<MuonOptions> {
  MuonOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0.95;
  TORCH_ARG(bool, nesterov) = true;
  TORCH_ARG(double, weight_decay) = 0.1;
  TORCH_ARG(std::int64_t, ns_steps) = 5;  ///< iterations of Newton and Schulz
  /// Scales the step of an m x n matrix by 0.2 sqrt(max(m, n)), so that its elements change as much as by AdamW and one
  /// rate fits all parameters (Liu et al. 2025). false: by sqrt(max(1, m / n)), as in the publication.
  TORCH_ARG(bool, match_rms) = true;
  /// false: AdamW for all parameters of the group, as is usual for embeddings and the last layer.
  TORCH_ARG(bool, orthogonal) = true;
  TORCH_ARG(double, beta1) = 0.9;    ///< of AdamW
  TORCH_ARG(double, beta2) = 0.999;  ///< of AdamW
  TORCH_ARG(double, eps) = 1e-8;     ///< of AdamW

 public:
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
  double get_lr() const override { return lr(); }
  void set_lr(double lr) override { this->lr(lr); }
};

/// The state of Muon for one parameter.
struct MuonState : torch::optim::OptimizerCloneableParamState<MuonState> {
  TORCH_ARG(at::Tensor, momentum) = {};    ///< AdamW: the mean of gradients
  TORCH_ARG(at::Tensor, exp_avg_sq) = {};  ///< AdamW only
  TORCH_ARG(std::int64_t, step) = 0;
};

/// Momentum whose steps for matrices are made orthogonal (Jordan et al. 2024, "Muon"): B = momentum B +
/// (1 - momentum) g; the step is the nearest orthogonal matrix to (1 - momentum) g + momentum B, or to B without
/// `nesterov`, approximately, by Newton and Schulz's iteration with its coefficients 3.4445, -4.7750, 2.0315. Then
/// w = w - lr decay w - lr scale step. A convolution is the matrix of its output channels by everything else. Other
/// parameters (biases, numbers, complex ones) step as by AdamW.
///
/// If ranks share the optimizer's work, they gather the momentum once per step, N bytes, and each computes the steps of
/// the matrices of which it has a piece. If no group is `orthogonal`, they gather nothing.
class Muon : public LayerwiseOptimizer {
 public:
  explicit Muon(std::vector<at::Tensor> parameters, MuonOptions options = {});
  explicit Muon(Groups groups, MuonOptions options = {});
  /// Optimizes a replica's `parameters()`, also if ranks share the optimizer's work.
  explicit Muon(const Replica& replica, MuonOptions options = {});
  Muon(const Replica& replica, Groups groups, MuonOptions options = {});

 private:
  Squares prepare(const at::Tensor& tensor, const Options& options) override;
  void complete(std::span<const at::Tensor> tensors, std::span<double> squares) override;
  void advance(const at::Tensor& tensor, const Options& options, const Squares& whole) override;

  /// The parameter of which a tensor is a part.
  struct Whole {
    const at::Tensor* parameter;
    const detail::Piece* piece = nullptr;  // nullptr: all of it
  };
  [[nodiscard]] Whole whole_of(const at::Tensor& tensor) const;
  [[nodiscard]] bool steps_orthogonally(const at::Tensor& tensor, const MuonOptions& options) const;
  void learn_pieces();

  std::map<const void*, Whole> pieces_;  // parts of a replica's parameters that are more than the tensor says
};

/// Returns approximately U V' of the matrix's singular value decomposition U S V', by `steps` iterations of Newton and
/// Schulz: singular values come to lie between about 0.7 and 1.2. Local.
[[nodiscard]] at::Tensor orthogonalized(const at::Tensor& matrix, std::int64_t steps = 5);

}  // namespace heatpp::nn
