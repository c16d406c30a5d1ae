#include <heatpp_nn/losses/losses.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/losses/detail/weighed_loss.hpp>

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace heatpp::nn {

using heatpp::detail::raise;
using heatpp::detail::tuple_text;

namespace {

struct Call {
  const char* name;
  const at::Tensor &outputs, &targets;
  const LossOptions& options;

  [[nodiscard]] std::int64_t reduction() const {
    return options.reduction == Reduction::sum ? at::Reduction::Sum : at::Reduction::Mean;
  }
  [[nodiscard]] std::int64_t ignored() const { return options.ignore_index.value_or(-100); }
  /// Returns a tensor of the options with the outputs' dtype and device.
  [[nodiscard]] std::optional<at::Tensor> like_outputs(const at::Tensor& tensor) const {
    return tensor.defined() ? std::optional(tensor.to(outputs.options())) : std::nullopt;
  }
  /// Returns the targets in the outputs' shape and dtype.
  [[nodiscard]] at::Tensor values() const {
    if (outputs.sizes() != targets.sizes())
      raise<ValueError>(name, "got outputs of shape {} and targets of {}; expected equal ones",
                        tuple_text(outputs.sizes()), tuple_text(targets.sizes()));
    return targets.to(outputs.scalar_type());
  }
};

/// Returns the number of targets that count, each weighted by its class.
at::Tensor weight_of(const Call& call, const at::Tensor& classes) {
  const auto counts = classes.ne(call.ignored());
  if (!call.options.class_weights.defined()) return counts.sum();
  return call.like_outputs(call.options.class_weights)->index_select(0, classes.masked_select(counts)).sum();
}

/// Means have a weight; sums have none. If the weight is 0, the mean and its gradients are NaN, and the sum is 0.
template <class F>
LossValue by_weight(const Call& call, const at::Tensor& classes, const F& loss) {
  if (call.options.reduction == Reduction::sum) return LossValue::sum(loss(at::Reduction::Sum));
  const auto weight = weight_of(call, classes);
  return {loss(weight.item<double>() > 0 ? at::Reduction::Mean : at::Reduction::Sum), weight};
}

LossValue by_rows(const Call& call, const at::Tensor& loss) {
  return call.options.reduction == Reduction::sum ? LossValue::sum(loss) : LossValue(loss);
}

LossValue cross_entropy(const Call& call) {
  const auto& [name, outputs, targets, options] = call;
  const auto weights = call.like_outputs(options.class_weights);
  if (targets.dim() == outputs.dim() && targets.is_floating_point())
    return by_rows(call, at::cross_entropy_loss(outputs, targets.to(outputs.scalar_type()), weights, call.reduction(),
                                                -100, options.label_smoothing));
  const auto classes = targets.to(at::kLong);
  return by_weight(call, classes, [&](std::int64_t reduction) {
    return at::cross_entropy_loss(call.outputs, classes, weights, reduction, call.ignored(),
                                  call.options.label_smoothing);
  });
}

LossValue nll(const Call& call) {
  const auto classes = call.targets.to(at::kLong);
  const auto weights = call.like_outputs(call.options.class_weights);
  return by_weight(call, classes, [&](std::int64_t reduction) {
    return at::nll_loss_nd(call.outputs, classes, weights, reduction, call.ignored());
  });
}

LossValue mse(const Call& call) { return by_rows(call, at::mse_loss(call.outputs, call.values(), call.reduction())); }
LossValue l1(const Call& call) { return by_rows(call, at::l1_loss(call.outputs, call.values(), call.reduction())); }
LossValue huber(const Call& call) {
  return by_rows(call, at::huber_loss(call.outputs, call.values(), call.reduction(), call.options.delta.value_or(1)));
}
LossValue smooth_l1(const Call& call) {
  return by_rows(call,
                 at::smooth_l1_loss(call.outputs, call.values(), call.reduction(), call.options.delta.value_or(1)));
}
LossValue binary_cross_entropy(const Call& call) {
  const auto weights = call.like_outputs(call.options.pos_weight);
  return by_rows(
      call, at::binary_cross_entropy_with_logits(call.outputs, call.values(), std::nullopt, weights, call.reduction()));
}

LossValue accuracy(const Call& call) {
  if (call.outputs.dim() != call.targets.dim() + 1)
    raise<ValueError>(call.name, "got outputs of {} axes and targets of {}; expected a class for each row of numbers",
                      call.outputs.dim(), call.targets.dim());
  const auto classes = call.targets.to(at::kLong);
  const auto counts = classes.ne(call.ignored());
  const auto right = call.outputs.argmax(1).eq(classes).logical_and(counts);
  const auto count = counts.sum();
  return {right.sum().to(at::kDouble) / count, count};
}

/// A loss, and the options that it has.
struct Measure {
  const char* name;
  LossValue (*of)(const Call& call);
  bool of_classes = false, smooths = false, bends = false, of_logits = false;
};
constexpr Measure measures[] = {{.name = "cross_entropy", .of = cross_entropy, .of_classes = true, .smooths = true},
                                {.name = "nll", .of = nll, .of_classes = true},
                                {.name = "mse", .of = mse},
                                {.name = "l1", .of = l1},
                                {.name = "huber", .of = huber, .bends = true},
                                {.name = "smooth_l1", .of = smooth_l1, .bends = true},
                                {.name = "binary_cross_entropy", .of = binary_cross_entropy, .of_logits = true},
                                {.name = "accuracy", .of = accuracy}};
constexpr auto losses = std::span(measures).first(std::size(measures) - 1);

const Measure& named(std::span<const Measure> table, const std::string& name) {
  const auto found = std::ranges::find_if(table, [&](const auto& measure) { return measure.name == name; });
  if (found != table.end()) return *found;
  std::string known;
  for (const auto& measure : table) known += (known.empty() ? "" : ", ") + std::string(measure.name);
  raise<ValueError>("loss", "got \"{}\"; expected one of {}", name, known);
}

void check(const Measure& measure, const LossOptions& o) {
  const auto refuse = [&](const char* option, const char* losses_with_it) {
    raise<ValueError>(measure.name, "got {}; expected it for {} only", option, losses_with_it);
  };
  if (!measure.of_classes && o.ignore_index) refuse("ignore_index", "cross_entropy and nll");
  if (!measure.of_classes && o.class_weights.defined()) refuse("class_weights", "cross_entropy and nll");
  if (!measure.smooths && o.label_smoothing != 0) refuse("label_smoothing", "cross_entropy");
  if (!measure.bends && o.delta) refuse("delta", "huber and smooth_l1");
  if (!measure.of_logits && o.pos_weight.defined()) refuse("pos_weight", "binary_cross_entropy");
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    raise<ValueError>(measure.name, "got label_smoothing {}; expected 0 to 1", o.label_smoothing);
  if (o.delta && !(*o.delta > 0 && std::isfinite(*o.delta)))
    raise<ValueError>(measure.name, "got delta {}; expected a positive number", *o.delta);
  if (o.class_weights.defined() && (o.class_weights.dim() != 1 || o.class_weights.lt(0).any().item<bool>()))
    raise<ValueError>(measure.name, "got class_weights of shape {}; expected one of at least 0 for each class",
                      tuple_text(o.class_weights.sizes()));
}

}  // namespace

Loss named_loss(const std::string& name, const LossOptions& options) {
  const auto& measure = named(losses, name);
  check(measure, options);
  return [&measure, options](const at::Tensor& outputs, const at::Tensor& targets) {
    return measure.of({measure.name, outputs, targets, options});
  };
}

Metric named_metric(const std::string& name, const LossOptions& options) {
  const auto& measure = named(measures, name);
  LossOptions own{.reduction = options.reduction};  // those that metrics share with losses
  if (measure.of_classes || measure.of == accuracy) own.ignore_index = options.ignore_index;
  if (measure.of_classes) own.class_weights = options.class_weights;
  if (measure.smooths) own.label_smoothing = options.label_smoothing;
  if (measure.bends) own.delta = options.delta;
  if (measure.of_logits) own.pos_weight = options.pos_weight;
  return [&measure, own](const at::Tensor& outputs, const at::Tensor& targets) -> MetricValue {
    const auto rows = static_cast<double>(outputs.size(0));
    const auto found = detail::weighed(measure.name, measure.of({measure.name, outputs, targets, own}), rows);
    return {found.value, found.weight};
  };
}

}  // namespace heatpp::nn
