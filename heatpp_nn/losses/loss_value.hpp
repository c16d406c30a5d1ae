#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>
#include <utility>

namespace heatpp::nn {

/// The value of a loss for the rows of one rank: a tensor with one number, and its weight relative to those of other
/// ranks and batches.
///     return at::mse_loss(y, wanted);                            // a mean over rows: its weight is their number
///     return std::pair(squares.sum() / mask.sum(), mask.sum());  // a mean with its own weight
///     return LossValue::sum((y - wanted).square().sum());        // a sum: the ranks add theirs up
/// The loss of all ranks is sum(value * weight) / sum(weight), or the sum of the sums: the loss that one process has.
struct LossValue {
  LossValue(at::Tensor mean) : value(std::move(mean)) {}
  LossValue(at::Tensor mean, at::Tensor by) : value(std::move(mean)), weight(std::move(by)) {}
  LossValue(std::pair<at::Tensor, at::Tensor> both) : LossValue(std::move(both.first), std::move(both.second)) {}
  LossValue(std::tuple<at::Tensor, at::Tensor> both)
      : LossValue(std::move(std::get<0>(both)), std::move(std::get<1>(both))) {}
  [[nodiscard]] static LossValue sum(at::Tensor total) {
    LossValue made(std::move(total));
    made.is_sum = true;
    return made;
  }

  at::Tensor value;        ///< may be anything, also NaN, if the weight is 0
  at::Tensor weight = {};  ///< one number >= 0, in a unit that is equal on all ranks; undefined: number of rows
  bool is_sum = false;     ///< `value` is a sum over rows; a sum has no weight
};

/// A mean over some rows for reports, with its weight; without a weight, the number of rows.
struct MetricValue {
  MetricValue(double mean) : value(mean) {}
  MetricValue(double mean, double by) : value(mean), weight(by) {}
  MetricValue(std::pair<double, double> both) : MetricValue(both.first, both.second) {}

  double value;
  std::optional<double> weight = std::nullopt;
};

}  // namespace heatpp::nn
