#pragma once

#include <ATen/core/ivalue.h>

#include <vector>

namespace torch::nn {
class Module;
}

namespace heatpp::nn::detail {

/// What a graph holds while it is computed: each value at the number that the graph has given to its name.
struct Frame {
  std::vector<c10::IValue> values;
  at::Device device = at::kCPU;  ///< where the network is, wherever it was exported
};

/// What a node is given: a constant, a value, a list of both, or what follows from a module's mode or device.
struct Operand {
  enum class Kind { constant, value, tensors, optional_tensors, ints, floats, bools, mode, device };
  enum class As { same, real, tensor };  ///< how a number is handed over

  Kind kind = Kind::constant;
  c10::IValue constant = {};   ///< of `mode`: while the module is trained
  c10::IValue otherwise = {};  ///< of `mode`: while it is not
  std::size_t value = 0;
  As as = As::same;
  std::vector<Operand> parts = {};  ///< of a list
  const torch::nn::Module* module = nullptr;
};

[[nodiscard]] c10::IValue value_of(const Operand& operand, const Frame& frame);
/// The values that it takes from a frame.
void add_uses(const Operand& operand, std::vector<std::size_t>& uses);

/// A number as a tensor that does not decide on dtypes, as in PyTorch.
[[nodiscard]] at::Tensor tensor_of_number(const c10::IValue& number);

}  // namespace heatpp::nn::detail
