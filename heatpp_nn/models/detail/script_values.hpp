#pragma once

#include <ATen/core/ivalue.h>

#include <heatpp_nn/models/loaded_module.hpp>

namespace heatpp::nn::detail {

/// The tensors in what a scripted function gave: a tensor, or lists, tuples and dicts of them, in their order. Throws
/// TypeError for anything else.
[[nodiscard]] ModuleOutputs unpacked(const char* op, const c10::IValue& value);

/// Tensors as a parameter of a scripted function takes them: one, a list, a tuple, or a dict by their names. Throws
/// ValueError where there are more or fewer than it takes, and TypeError for a parameter that takes no tensors.
[[nodiscard]] c10::IValue packed(const char* op, const ModuleArgument& argument, const std::string& parameter,
                                 const c10::TypePtr& type);

}  // namespace heatpp::nn::detail
