#include "measures.hpp"

#include <heatpp/core/detail/torch.hpp>

#include <ATen/ATen.h>

#include <cmath>

namespace heatpp::python {
namespace {

using Value = LossSettings::mapped_type;

[[noreturn]] void refuse(const std::string& name, const char* expected) {
  throw ValueError("[Trainer] got another value of loss_options[\"" + name + "\"]; expected " + expected);
}
double number_in(const std::string& name, const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  refuse(name, "a number");
}
std::int64_t whole_in(const std::string& name, const Value& value) {
  const auto number = number_in(name, value);
  if (std::trunc(number) != number || !(std::abs(number) < 9007199254740992.0)) refuse(name, "a whole number");
  return static_cast<std::int64_t>(number);
}
/// Returns a value that is equal on all ranks as a tensor.
at::Tensor tensor_in(const std::string& name, const Value& value) {
  const auto* given = std::get_if<KeptOperand>(&value);
  if (given && given->array() && !given->array()->split()) return given->array()->larray().to(at::kFloat);
  refuse(name, "numbers in a list, or an array that is not split");
}
nn::Reduction reduction_in(const std::string& name, const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text && *text == "mean") return nn::Reduction::mean;
  if (text && *text == "sum") return nn::Reduction::sum;
  refuse(name, "mean or sum");
}

}  // namespace

std::optional<nn::LossOptions> loss_options_of(const std::optional<LossSettings>& settings) {
  if (!settings) return std::nullopt;
  nn::LossOptions options;
  for (const auto& [name, value] : *settings) {
    if (name == "reduction") options.reduction = reduction_in(name, value);
    else if (name == "ignore_index") options.ignore_index = whole_in(name, value);
    else if (name == "class_weights") options.class_weights = tensor_in(name, value);
    else if (name == "label_smoothing") options.label_smoothing = number_in(name, value);
    else if (name == "delta") options.delta = number_in(name, value);
    else if (name == "pos_weight") options.pos_weight = tensor_in(name, value);
    else
      throw ValueError("[Trainer] got loss_options[\"" + name +
                       "\"]; expected reduction, ignore_index, class_weights, label_smoothing, delta or pos_weight");
  }
  return options;
}

nn::Metrics metrics_named(const std::vector<std::string>& names, const std::optional<nn::LossOptions>& options) {
  nn::Metrics metrics;
  for (const auto& name : names) metrics.emplace(name, nn::named_metric(name, options.value_or(nn::LossOptions())));
  return metrics;
}

}  // namespace heatpp::python
