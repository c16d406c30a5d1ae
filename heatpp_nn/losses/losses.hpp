#pragma once

#include <heatpp_nn/training/inference.hpp>

namespace heatpp::nn {

/// What a loss makes of the numbers of its rows.
enum class Reduction {
  mean,  ///< their mean, by weight
  sum    ///< their sum; `evaluate` and EpochResult still give means over rows
};

/// Options of losses by name, with the defaults of torch.nn's. A loss refuses those that it does not have.
struct LossOptions {
  Reduction reduction = Reduction::mean;
  std::optional<std::int64_t> ignore_index = std::nullopt;  ///< of classes: the one that does not count; nullopt: -100
  at::Tensor class_weights = {};                            ///< of classes: by how much each counts, (classes)
  double label_smoothing = 0;                               ///< cross_entropy: the share of a target spread over all
  std::optional<double> delta = std::nullopt;               ///< huber and smooth_l1: where squares end; nullopt: 1
  at::Tensor pos_weight = {};                               ///< binary_cross_entropy: the weight of targets of 1
};

/// A loss by its name, right on any number of ranks, as PyTorch's in one process:
/// cross_entropy of scores (rows, classes, ...) and classes (rows, ...), or probabilities of the scores' shape; nll of
/// logarithms of probabilities and classes; mse, l1, huber, smooth_l1 and binary_cross_entropy (of logits) of equal
/// shapes. Targets take the scores' dtype, classes int64. Throws ValueError for other names, and for options that the
/// loss does not have or that are out of range.
[[nodiscard]] Loss named_loss(const std::string& name, const LossOptions& options = {});

/// A loss of this name as a metric; also accuracy: the share of rows whose class has the largest score, in which
/// `ignore_index` counts.
[[nodiscard]] Metric named_metric(const std::string& name, const LossOptions& options = {});

}  // namespace heatpp::nn
