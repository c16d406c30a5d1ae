#include <heatpp/ops/operands/detail/align.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/common_dtype.hpp>
#include <heatpp/core/detail/cuts/stretched.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/fused/pending.hpp>
#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/ops/operands/detail/align_pending.hpp>

#include <ATen/ScalarOps.h>
#include <algorithm>

namespace heatpp::detail {

const at::Tensor& pending_block(const DNDarray& x) {
  static_cast<void>(x.layout());  // throws for an array without elements
  return Access::impl(x)->local;
}

namespace {

std::int64_t cost_of(const Layout& result, std::span<const DNDarray* const> arrays) {
  std::int64_t cost = 0;
  for (const auto* x : arrays)
    cost += relayout_cost(x->layout(), to_meet(result, x->shape()), static_cast<std::int64_t>(itemsize(x->dtype())));
  return cost;
}

Layout cheapest_layout(const Shape& shape, std::span<const DNDarray* const> arrays) {
  Layout best(shape, std::nullopt, arrays.front()->comm().size());
  std::int64_t best_cost = -1;
  for (const auto* x : arrays) {
    if (!x->layout().is_cut()) continue;
    auto candidate = stretched(x->layout(), shape);
    const auto cost = cost_of(candidate, arrays);
    if (best_cost >= 0 && cost >= best_cost) continue;
    best = std::move(candidate);
    best_cost = cost;
  }
  return best;
}

at::Tensor number_tensor(const Scalar& number, const at::Device& device = at::kCPU) {
  auto tensor = c10::scalar_to_tensor(to_torch(number), device);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

/// In LibTorch, arrays without axes give way in type promotion as numbers do; in the array API they do not.
void promote_arrays_without_axes(std::span<const DNDarray* const> arrays, std::vector<at::Tensor>& blocks) {
  const bool any = std::ranges::any_of(arrays, [](const auto* x) { return x->ndim() == 0; });
  if (!any || arrays.size() < 2) return;
  const auto type = to_torch(common_dtype(arrays));
  for (auto& block : blocks)
    if (!block.unsafeGetTensorImpl()->is_wrapped_number() && block.scalar_type() != type)
      block = fused::computed(block).to(type);
}

/// Returns the block of `x` under `target`. It stays pending if nothing moves.
at::Tensor moved_block(const char* op, const DNDarray& x, const Layout& target) {
  return x.layout() == target ? pending_block(x) : relayout_operand(op, x, target, x.comm());
}

std::vector<const DNDarray*> arrays_among(std::span<const Operand> operands) {
  std::vector<const DNDarray*> arrays;
  for (const auto& operand : operands)
    if (operand.array()) arrays.push_back(operand.array());
  return arrays;
}

std::vector<const DNDarray*> arrays_of(const char* op, std::span<const Operand> operands) {
  auto arrays = arrays_among(operands);
  if (arrays.empty()) raise<ValueError>(op, "got numbers only; expected at least one array");
  for (const auto* x : arrays) {
    check_same_comm(op, arrays.front()->comm(), x->comm());
    check_same_device(op, *arrays.front(), *x);
  }
  return arrays;
}

}  // namespace

Dtype common_type(std::span<const Operand> operands) {
  const auto arrays = arrays_among(operands);
  auto type = common_dtype(arrays);
  for (const auto& operand : operands) {
    if (operand.array()) continue;
    const auto of_number = operand.number().default_dtype();
    type = arrays.empty() ? std::max(type, of_number) : result_type(type, operand.number());
  }
  return type;
}

void check_bool(const char* op, const DNDarray& mask) {
  if (mask.dtype() != bool_) raise<TypeError>(op, "got a mask of {}; expected bool", name(mask.dtype()));
}

void check_value(const char* op, const Operand& value, Dtype array) {
  check_real(op, value.array() ? value.array()->dtype() : value.number().default_dtype(), array);
  if (!value.array()) check_in_range(op, value.number(), array);
}

Aligned align(const char* op, std::span<const Operand> operands) {
  auto aligned = align_pending(op, operands);
  for (const auto& block : aligned.blocks) fused::computed(block);
  return aligned;
}

Aligned align_pending(const char* op, std::span<const Operand> operands) {
  const auto arrays = arrays_of(op, operands);
  auto shape = arrays.front()->shape();
  bool alike = true;  // the usual case, which should cost nothing
  for (const auto* x : arrays) {
    alike = alike && x->layout() == arrays.front()->layout();
    if (!alike) shape = broadcast_shapes(shape, x->shape(), op);
  }
  const auto layout = alike ? arrays.front()->layout() : cheapest_layout(shape, arrays);
  std::vector<at::Tensor> blocks;
  for (const auto& operand : operands) {
    const auto* x = operand.array();
    if (!x) {
      blocks.push_back(number_tensor(operand.number(), pending_block(*arrays.front()).device()));
      continue;
    }
    blocks.push_back(alike ? pending_block(*x) : moved_block(op, *x, to_meet(layout, x->shape())));
  }
  promote_arrays_without_axes(arrays, blocks);
  return {std::move(blocks), layout, arrays.front()->comm()};
}

at::Tensor align_pending_to(const char* op, const DNDarray& x, const Operand& operand) {
  const auto* const array = operand.array();
  if (!array || array->layout() != x.layout()) return align_to(op, x, operand);
  check_same_device(op, x, *array);
  check_same_comm(op, x.comm(), array->comm());
  return pending_block(*array);
}

at::Tensor align_to(const char* op, const DNDarray& x, const Operand& operand) {
  if (operand.array()) check_same_device(op, x, *operand.array());
  return align_to(op, x.layout(), x.comm(), operand);
}

at::Tensor align_to(const char* op, const Layout& layout, const Communicator& comm, const Operand& operand) {
  if (!operand.array()) return number_tensor(operand.number());
  const auto& value = *operand.array();
  check_same_comm(op, comm, value.comm());
  if (!broadcasts_to(value.shape(), layout.shape()))
    raise<ValueError>(op, "got an operand of shape {} for an array of shape {}; expected one that broadcasts to it",
                      to_string(value.shape()), to_string(layout.shape()));
  return relayout_operand(op, value, to_meet(layout, value.shape()), comm);
}

}  // namespace heatpp::detail
