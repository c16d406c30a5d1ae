#include <heatpp_nn/losses/detail/weighed_loss.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <ATen/ATen.h>

#include <cmath>

namespace heatpp::nn::detail {

using heatpp::detail::raise;
using heatpp::detail::tuple_text;

namespace {

double number_in(const char* op, const char* what, const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.numel() != 1)
    raise<ValueError>(op, "got a {} of shape {}; expected one number", what,
                      tensor.defined() ? tuple_text(tensor.sizes()) : "()");
  return tensor.item<double>();
}

double weight_of(const char* op, const LossValue& found, double rows) {
  if (!found.weight.defined()) return rows;
  if (found.is_sum) raise<ValueError>(op, "got a loss that is a sum, and a weight; expected one of both");
  const auto weight = number_in(op, "weight", found.weight);
  if (!(weight >= 0 && std::isfinite(weight)))
    raise<ValueError>(op, "got a loss of the weight {}; expected a finite one of at least 0", weight);
  return weight;
}

}  // namespace

WeighedLoss weighed(const char* op, const LossValue& found, double rows) {
  const auto weight = weight_of(op, found, rows);
  const auto value = number_in(op, "loss", found.value);
  const auto mean = weight > 0 ? value / (found.is_sum ? rows : 1) : 0.0;
  return {found.value, mean, weight, found.is_sum};
}

void throw_nothing_counts(const char* op) {
  raise<ValueError>(op, "got a loss whose weight is 0 for every row of all ranks; expected some targets that count");
}

}  // namespace heatpp::nn::detail
