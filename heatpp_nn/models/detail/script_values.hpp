#pragma once

#include <ATen/core/ivalue.h>

#include <heatpp_nn/models/loaded_module.hpp>

namespace heatpp::nn::detail {

/// Returns the tensors in the result of a scripted function: a tensor, or lists, tuples and dicts of them, in order.
/// Throws TypeError for anything else.
[[nodiscard]] ModuleOutputs unpacked(const char* op, const c10::IValue& value);

/// Returns tensors in the form that a parameter of a scripted function takes: one, a list, a tuple, or a dict by names.
/// Throws ValueError for a wrong number of tensors, and TypeError for a parameter that takes no tensors.
[[nodiscard]] c10::IValue packed(const char* op, const ModuleArgument& argument, const std::string& parameter,
                                 const c10::TypePtr& type);

}  // namespace heatpp::nn::detail
