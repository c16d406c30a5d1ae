#include <heatpp_nn/models/detail/exported/graph/operand.hpp>

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <torch/nn/module.h>

namespace heatpp::nn::detail {
namespace {

template <class Element, class Convert>
c10::IValue values_of_list(const Operand& operand, const Frame& frame, const Convert& convert) {
  c10::List<Element> list;
  list.reserve(operand.parts.size());
  for (const auto& part : operand.parts) list.push_back(convert(value_of(part, frame)));
  return list;
}

c10::IValue converted(const c10::IValue& value, Operand::As as) {
  if (as == Operand::As::real && !value.isDouble()) return value.toScalar().toDouble();
  if (as == Operand::As::tensor && value.isScalar()) return tensor_of_number(value);
  return value;
}

}  // namespace

at::Tensor tensor_of_number(const c10::IValue& number) { return at::native::wrapped_scalar_tensor(number.toScalar()); }

c10::IValue value_of(const Operand& operand, const Frame& frame) {
  using Kind = Operand::Kind;
  using OptionalTensor = std::optional<at::Tensor>;
  switch (operand.kind) {
    case Kind::constant: return operand.constant;
    case Kind::value: return converted(frame.values[operand.value], operand.as);
    case Kind::device: return frame.device;
    case Kind::mode: return operand.module->is_training() ? operand.constant : operand.otherwise;
    case Kind::tensors:
      return values_of_list<at::Tensor>(operand, frame, [](const auto& value) { return value.toTensor(); });
    case Kind::ints:
      return values_of_list<std::int64_t>(operand, frame, [](const auto& value) { return value.toInt(); });
    case Kind::bools: return values_of_list<bool>(operand, frame, [](const auto& value) { return value.toBool(); });
    case Kind::floats:
      return values_of_list<double>(operand, frame, [](const auto& value) { return value.toScalar().toDouble(); });
    case Kind::optional_tensors:
      return values_of_list<OptionalTensor>(operand, frame, [](const auto& value) {
        return value.isNone() ? OptionalTensor() : OptionalTensor(value.toTensor());
      });
  }
  return {};
}

void add_uses(const Operand& operand, std::vector<std::size_t>& uses) {
  if (operand.kind == Operand::Kind::value) uses.push_back(operand.value);
  for (const auto& part : operand.parts) add_uses(part, uses);
}

}  // namespace heatpp::nn::detail
