#include <heatpp_nn/training/metrics.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <ATen/ATen.h>

#include <array>
#include <cmath>

namespace heatpp::nn {

using heatpp::detail::raise;

void Average::add(double value, double count) {
  if (count == 0) return;
  sum_ += value * count;
  count_ += count;
}

double Average::value(const Communicator& comm) const {
  std::array<double, 2> both{sum_, count_};
  comm.allreduce(both);
  return both[0] / both[1];
}

double Average::count(const Communicator& comm) const {
  std::array<double, 1> all{count_};
  comm.allreduce(all);
  return all[0];
}

void Moments::add(double count, double mean, double squares) {
  if (count == 0) return;
  const auto both = count_ + count, distance = mean - mean_;
  mean_ += distance * count / both;
  squares_ += squares + distance * distance * count_ * count / both;
  count_ = both;
}

void Moments::add(double value) { add(1, value, 0); }

void Moments::add(const at::Tensor& values) {
  const at::NoGradGuard no_grad;
  if (values.numel() == 0) return;
  const auto wide = values.to(at::kDouble);
  const auto mean = wide.mean();
  add(static_cast<double>(values.numel()), mean.item<double>(), (wide - mean).square().sum().item<double>());
}

Moments::Result Moments::value(const Communicator& comm) const {
  auto sum = *this;
  comm.allreduce_records(&sum, 1, sizeof sum, [](const void* in, void* inout, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      auto both = static_cast<const Moments*>(in)[i];
      auto& behind = static_cast<Moments*>(inout)[i];
      both.add(behind.count_, behind.mean_, behind.squares_);
      behind = both;
    }
  });
  if (sum.count_ == 0) return {0, std::nan(""), std::nan("")};
  return {static_cast<std::int64_t>(sum.count_), sum.mean_, std::sqrt(sum.squares_ / sum.count_)};
}

double accuracy(const at::Tensor& scores, const at::Tensor& targets) {
  const at::NoGradGuard no_grad;
  return scores.argmax(1).eq(targets).to(at::kDouble).mean().item<double>();
}

double intersection_over_union(const at::Tensor& scores, const at::Tensor& masks) {
  const at::NoGradGuard no_grad;
  if (scores.sizes() != masks.sizes() || scores.dim() < 2)
    raise<ValueError>("intersection_over_union",
                      "got scores of shape {} and masks of shape {}; expected equal ones, of rows of pixels",
                      heatpp::detail::tuple_text(scores.sizes()), heatpp::detail::tuple_text(masks.sizes()));
  const auto found = scores.flatten(1) > 0, there = masks.flatten(1) > 0;
  const auto both = found.logical_and(there).sum(1).to(at::kDouble), either = found.logical_or(there).sum(1);
  return at::where(either == 0, 1.0, both / either).mean().item<double>();
}

double top_k_accuracy(const at::Tensor& scores, const at::Tensor& targets, int k) {
  const at::NoGradGuard no_grad;
  if (k < 1) raise<ValueError>("top_k_accuracy", "got k {}; expected at least 1", k);
  const auto best = std::get<1>(scores.topk(std::min<std::int64_t>(k, scores.size(1)), 1));
  return best.eq(targets.unsqueeze(1)).any(1).to(at::kDouble).mean().item<double>();
}

ConfusionMatrix::ConfusionMatrix(int classes)
    : classes_(classes), counts_(static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes)) {}

void ConfusionMatrix::add(const at::Tensor& scores, const at::Tensor& targets) {
  const at::NoGradGuard no_grad;
  const auto predicted = (scores.dim() == 2 ? scores.argmax(1) : scores).to(at::kCPU, at::kLong).contiguous();
  const auto right = targets.to(at::kCPU, at::kLong).contiguous();
  if (predicted.numel() != right.numel())
    raise<ValueError>("ConfusionMatrix", "got {} predictions and {} targets; expected as many", predicted.numel(),
                      right.numel());
  const auto *p = predicted.const_data_ptr<std::int64_t>(), *t = right.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < right.numel(); ++i) {
    if (p[i] < 0 || p[i] >= classes_ || t[i] < 0 || t[i] >= classes_)
      raise<ValueError>("ConfusionMatrix", "got class {} taken for {}; expected 0 to {}", t[i], p[i], classes_ - 1);
    ++counts_[static_cast<std::size_t>(t[i] * classes_ + p[i])];
  }
}

std::vector<std::int64_t> ConfusionMatrix::value(const Communicator& comm) const {
  auto all = counts_;
  comm.allreduce(all);
  return all;
}

ConfusionMatrix::Scores ConfusionMatrix::scores(const Communicator& comm) const {
  const auto counts = value(comm);
  const auto n = static_cast<std::size_t>(classes_);
  const auto ratio = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  Scores result;
  double right = 0, all = 0;
  for (std::size_t c = 0; c < n; ++c) {
    double of_class = 0, taken_for = 0;
    for (std::size_t other = 0; other < n; ++other) {
      of_class += static_cast<double>(counts[c * n + other]);
      taken_for += static_cast<double>(counts[other * n + c]);
    }
    const auto hits = static_cast<double>(counts[c * n + c]);
    result.precision.push_back(ratio(hits, taken_for));
    result.recall.push_back(ratio(hits, of_class));
    result.f1.push_back(ratio(2 * hits, of_class + taken_for));
    right += hits;
    all += of_class;
  }
  result.accuracy = ratio(right, all);
  return result;
}

void RegressionMetrics::add(const at::Tensor& outputs, const at::Tensor& targets) {
  const at::NoGradGuard no_grad;
  if (outputs.sizes() != targets.sizes())
    raise<ValueError>("RegressionMetrics", "got outputs of shape {} and targets of shape {}; expected equal shapes",
                      heatpp::detail::tuple_text(outputs.sizes()), heatpp::detail::tuple_text(targets.sizes()));
  const auto right = targets.to(at::kDouble), error = outputs.to(at::kDouble) - right;
  squares_ += error.square().sum().item<double>();
  distances_ += error.abs().sum().item<double>();
  target_squares_ += right.square().sum().item<double>();
  targets_.add(right);
}

RegressionMetrics::Result RegressionMetrics::value(const Communicator& comm) const {
  std::array<double, 3> sums{squares_, distances_, target_squares_};
  comm.allreduce(sums);
  const auto targets = targets_.value(comm);
  const auto n = static_cast<double>(targets.count);
  return {targets.count, sums[0] / n, sums[1] / n, 1 - sums[0] / (n * targets.std * targets.std),
          std::sqrt(sums[0] / sums[2])};
}

}  // namespace heatpp::nn
