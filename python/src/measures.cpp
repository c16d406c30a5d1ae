#include "measures.hpp"

#include <ATen/ATen.h>

namespace heatpp::python {
namespace {

// Losses and metrics: means over some rows. Targets take the outputs' dtype, classes int64.

void check_alike(const char* op, const at::Tensor& outputs, const at::Tensor& targets) {
  if (outputs.sizes() == targets.sizes()) return;
  const auto text = [](const at::Tensor& t) { return to_string(Shape(t.sizes().begin(), t.sizes().end())); };
  throw ValueError("[" + std::string(op) + "] got outputs of shape " + text(outputs) + " and targets of " +
                   text(targets) + "; expected equal ones");
}
template <at::Tensor (*F)(const at::Tensor&, const at::Tensor&, std::int64_t)>
at::Tensor between(const char* op, const at::Tensor& outputs, const at::Tensor& targets) {
  check_alike(op, outputs, targets);
  return F(outputs, targets.to(outputs.scalar_type()), at::Reduction::Mean);
}
at::Tensor cross_entropy(const char*, const at::Tensor& outputs, const at::Tensor& targets) {
  const bool shares = targets.dim() == outputs.dim() && targets.is_floating_point();
  return at::cross_entropy_loss(outputs, shares ? targets : targets.to(at::kLong));
}
at::Tensor binary_cross_entropy(const char* op, const at::Tensor& outputs, const at::Tensor& targets) {
  check_alike(op, outputs, targets);
  return at::binary_cross_entropy_with_logits(outputs, targets.to(outputs.scalar_type()));
}
at::Tensor huber(const char* op, const at::Tensor& outputs, const at::Tensor& targets) {
  check_alike(op, outputs, targets);
  return at::huber_loss(outputs, targets.to(outputs.scalar_type()));
}
at::Tensor accuracy(const char* op, const at::Tensor& outputs, const at::Tensor& targets) {
  if (outputs.dim() != targets.dim() + 1)
    throw ValueError("[" + std::string(op) + "] got outputs of " + std::to_string(outputs.dim()) +
                     " axes and targets of " + std::to_string(targets.dim()) +
                     "; expected a class for each row of numbers");
  return outputs.argmax(1).eq(targets).to(at::kDouble).mean();
}

struct Measure {
  const char* name;
  at::Tensor (*of)(const char* op, const at::Tensor& outputs, const at::Tensor& targets);
};
constexpr Measure measures[] = {{"cross_entropy", cross_entropy},
                                {"mse", between<at::mse_loss>},
                                {"l1", between<at::l1_loss>},
                                {"huber", huber},
                                {"binary_cross_entropy", binary_cross_entropy},
                                {"accuracy", accuracy}};

}  // namespace

nn::Loss loss_named(const std::string& name) {
  const auto& measure = named<Measure>("Trainer", std::span(measures).first(5), name);
  return [measure](const at::Tensor& outputs, const at::Tensor& targets) {
    return measure.of(measure.name, outputs, targets);
  };
}

nn::Metric metric_named(const std::string& name) {
  return [measure = named<Measure>("Trainer", measures, name)](const at::Tensor& outputs, const at::Tensor& targets) {
    return measure.of(measure.name, outputs, targets).template item<double>();
  };
}

}  // namespace heatpp::python
