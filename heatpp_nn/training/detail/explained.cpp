#include <heatpp_nn/training/detail/explained.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/detail/first_line.hpp>

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace heatpp::nn::detail {
namespace {

bool says(const std::exception& error, std::initializer_list<std::string_view> texts) {
  const std::string_view what = error.what();
  return std::ranges::any_of(texts, [&](auto text) { return what.find(text) != std::string_view::npos; });
}

}  // namespace

void explain_dtypes(const std::exception& error, const torch::nn::Module& module, const Tensors& inputs) {
  if (!says(error, {"dtype", "scalar type", "Input type"})) return;
  const auto weights = module.parameters();
  const auto real = std::ranges::find_if(weights, [](const auto& weight) { return weight.is_floating_point(); });
  if (real == weights.end()) return;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].scalar_type() != real->scalar_type()) {
      const auto expected = name(heatpp::detail::from_torch(real->scalar_type()));
      heatpp::detail::raise<ValueError>(
          "Network", "got input {} of dtype {} for weights of {} ({}); expected {}, as x.astype({}) gives it", i,
          name(heatpp::detail::from_torch(inputs[i].scalar_type())), expected, first_line(error), expected, expected);
    }
}

Tensors trained_outputs(const Network& network, const Batch& batch) {
  try {
    return network(batch.all_inputs());
  } catch (const std::exception& error) {
    // LibTorch's layers throw the first message, heatpp's the second if each rank normalises by its own rows.
    if (batch.inputs.size(0) != 1 || !says(error, {"more than 1 value per channel", "one value of each feature;"}))
      throw;
    heatpp::detail::raise<ValueError>(
        "fit",
        "got a batch of one row on a rank, which BatchNorm does not take ({}); expected remainder drop or pad, or "
        "SyncBatchNorm with synchronise_norms",
        first_line(error));
  }
}

void KeptError::during(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    error_ = std::current_exception();
  }
}

at::Tensor KeptError::loss(const torch::nn::Module& module) const {
  at::Tensor sum;
  for (const auto& weight : module.parameters()) {
    if (!weight.requires_grad()) continue;
    const auto part = weight.is_complex() ? at::real(weight).sum() : weight.sum();
    sum = sum.defined() ? sum + part : part;
  }
  return sum * std::numeric_limits<double>::quiet_NaN();
}

void KeptError::throw_own() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void KeptError::throw_of_any(const Communicator& comm) {
  const auto own = error_;
  try {
    all_or_none(comm, [&] { throw_own(); });
  } catch (...) {
    if (own) std::rethrow_exception(own);  // as it was thrown: Python's KeyboardInterrupt is no RuntimeError
    throw;
  }
}

}  // namespace heatpp::nn::detail
