#pragma once

#include <heatpp_nn/training/inference.hpp>

namespace heatpp::nn {

/// How a loss combines the values of its rows.
enum class Reduction {
  mean,  ///< their weighted mean
  sum    ///< their sum; `evaluate` and EpochResult still return means over rows
};

/// Options of losses by name, with the defaults of torch.nn. A loss throws for options that it does not have.
struct LossOptions {
  Reduction reduction = Reduction::mean;
  std::optional<std::int64_t> ignore_index = std::nullopt;  ///< class that is not counted; nullopt: -100
  at::Tensor class_weights = {};                            ///< weight of each class, (classes)
  double label_smoothing = 0;                               ///< cross_entropy: share of a target spread over classes
  std::optional<double> delta = std::nullopt;               ///< huber, smooth_l1: largest squared distance; nullopt: 1
  at::Tensor pos_weight = {};                               ///< binary_cross_entropy: weight of targets equal to 1
};

/// Returns a loss by its name. On any number of ranks it has the value that PyTorch gives in one process: cross_entropy
/// of scores (rows, classes, ...) and classes (rows, ...), or probabilities of the scores' shape; nll of logarithms of
/// probabilities and classes; mse, l1, huber, smooth_l1 and binary_cross_entropy (of logits) of equal shapes. Targets
/// are converted to the scores' dtype, classes to int64. Throws ValueError for other names, and for options that the
/// loss does not have or that are out of range.
[[nodiscard]] Loss named_loss(const std::string& name, const LossOptions& options = {});

/// Returns the loss of this name as a metric. It also knows accuracy, the share of rows whose class has the largest
/// score; of the options it has `ignore_index`.
[[nodiscard]] Metric named_metric(const std::string& name, const LossOptions& options = {});

}  // namespace heatpp::nn
