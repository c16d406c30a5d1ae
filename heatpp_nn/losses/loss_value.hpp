#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>
#include <utility>

namespace heatpp::nn {

/// What a loss comes to for the rows of one rank: a tensor of one number, and how these rows count beside those of
/// other ranks and batches.
///     return at::mse_loss(y, wanted);                            // a mean over rows: it counts by its rows
///     return std::pair(squares.sum() / mask.sum(), mask.sum());  // a mean that counts by a weight of its own
///     return LossValue::sum((y - wanted).square().sum());        // a sum: those of the ranks are added up
/// The loss of all ranks is sum(value * weight) / sum(weight), or the sum of sums: that of one process.
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

  at::Tensor value;        ///< may be anything, NaN too, where the weight is 0
  at::Tensor weight = {};  ///< one number of at least 0, of any unit that is the same on all ranks; undefined: the rows
  bool is_sum = false;     ///< `value` is a sum over rows; a sum has no weight
};

/// A mean over some rows to look at, and by how much it counts; without a weight by their number.
struct MetricValue {
  MetricValue(double mean) : value(mean) {}
  MetricValue(double mean, double by) : value(mean), weight(by) {}
  MetricValue(std::pair<double, double> both) : MetricValue(both.first, both.second) {}

  double value;
  std::optional<double> weight = std::nullopt;
};

}  // namespace heatpp::nn
