#pragma once

#include <ATen/core/ivalue.h>

#include <vector>

namespace torch::nn {
class Module;
}

namespace heatpp::nn::detail {

/// The values of a running graph, each at the number of its name.
struct Frame {
  std::vector<c10::IValue> values;
  at::Device device = at::kCPU;  ///< where the network is, which may differ from the export
};

/// An operand of a node: a constant, a value, a list of both, or a value that follows from a module's mode or device.
struct Operand {
  enum class Kind { constant, value, tensors, optional_tensors, ints, floats, bools, mode, device };
  enum class As { same, real, tensor };  ///< the form in which a number is passed

  Kind kind = Kind::constant;
  c10::IValue constant = {};   ///< for `mode`: the constant in training
  c10::IValue otherwise = {};  ///< for `mode`: the constant in evaluation
  std::size_t value = 0;
  As as = As::same;
  std::vector<Operand> parts = {};  ///< for a list
  const torch::nn::Module* module = nullptr;
};

[[nodiscard]] c10::IValue value_of(const Operand& operand, const Frame& frame);
/// Adds the values that the operand takes from a frame.
void add_uses(const Operand& operand, std::vector<std::size_t>& uses);

/// Returns a number as a tensor that does not take part in type promotion, as in PyTorch.
[[nodiscard]] at::Tensor tensor_of_number(const c10::IValue& number);

}  // namespace heatpp::nn::detail
