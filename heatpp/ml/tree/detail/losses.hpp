#pragma once

#include <heatpp/ml/tree/detail/units.hpp>

// The losses of boosting and their derivatives.
namespace heatpp::ml::detail {

enum class Loss {
  squared_error,   ///< (score - y)^2 / 2
  poisson,         ///< exp(score) - y score
  two_classes,     ///< log(1 + exp(score)) - y score
  softmax,         ///< log(sum of exp(scores)) - score of the row's class
  absolute_error,  ///< |y - score|
  quantile         ///< q (y - score), or (1 - q) (score - y) for a score above y
};
/// Whether the loss has a second derivative at its minimum. For others 1 is used, and leaves get the best value for
/// their rows afterwards.
[[nodiscard]] inline bool smooth(Loss loss) { return loss != Loss::absolute_error && loss != Loss::quantile; }

/// The targets of this rank's rows.
struct Task {
  const char* op;
  const Rows& rows;
  Loss loss;
  std::int64_t outputs;               ///< scores of a row: classes for softmax, else 1
  at::Tensor targets;                 ///< float64 numbers; positions of classes
  std::optional<at::Tensor> weights;  ///< nullopt: 1
  at::Tensor training;                ///< float64, 1 for training rows, 0 for others
  double quantile = 0.5;              ///< for piecewise linear losses
};

[[nodiscard]] double weight_of(const Task& task, std::int64_t row);

/// Returns the best constant score for each output. Collective: exact_sums of 1 + outputs columns, and group_quantiles
/// of all targets for piecewise linear losses.
[[nodiscard]] std::vector<double> baseline(const Task& task, double& total_weight);

/// First and second derivatives of the weighted losses by scores (outputs, rows).
class Derivatives {
 public:
  Derivatives(const Task& task, double total_weight);
  /// Computes derivatives at these scores. Collective for squared errors and Poisson's: an all-reduce of 24 bytes, none
  /// if rows are replicated or derivatives have known bounds.
  void at(const at::Tensor& scores);
  /// Writes the pairs, with counts, of one output, in these units.
  void write_pairs(std::int64_t output, const at::Tensor& pairs) const;
  [[nodiscard]] const Units& units() const { return units_; }

 private:
  const Task& task_;
  double total_weight_, largest_weight_ = 1;
  Units units_;
  at::Tensor means_;                 ///< the predictions for the scores
  std::vector<std::uint32_t> bits_;  ///< random bits of this rank's rows, for rounding
};

/// The mean weighted losses of the training rows, and of the others. Collective: one all-reduce of 40 bytes, none if
/// rows are replicated.
struct MeanLosses {
  double training, others;
};
[[nodiscard]] MeanLosses mean_losses(const Task& task, const at::Tensor& scores);

}  // namespace heatpp::ml::detail
