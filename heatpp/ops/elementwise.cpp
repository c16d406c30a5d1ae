#include <heatpp/ops/detail/align.hpp>
#include <heatpp/ops/elementwise.hpp>

namespace heatpp {
namespace {

template <class F>
DNDarray unary(const char* op, const DNDarray& x, F f) {
  const Operand operands[] = {x};
  return detail::wrap(detail::with_type_errors(op, operands, [&] { return f(x.larray()); }), x.layout(), x.comm());
}

template <class F>
DNDarray combine(const char* op, std::span<const Operand> operands, F f) {
  auto [blocks, layout, comm] = detail::align(op, operands);
  auto local = detail::with_type_errors(op, operands, [&] { return f(blocks); });
  // Extents of 1 that only other ranks' blocks stretch are stretched here.
  const auto shape = layout.local_shape(comm.rank());
  if (local.sizes() != at::IntArrayRef(shape)) local = local.expand(shape);
  return detail::wrap(std::move(local), std::move(layout), comm);
}

template <class F>
const DNDarray& in_place(const char* op, const DNDarray& x, const Operand& b, F f) {
  const Operand operands[] = {x, b};
  const auto block = detail::align_to(op, x, b);
  detail::with_type_errors(op, operands, [&] { f(x.larray(), block); });
  return x;
}

}  // namespace

#define HEATPP_UNARY(name, torch_name, doc)                                                \
  DNDarray name(const DNDarray& x) {                                                       \
    return unary(#name, x, [](const at::Tensor& block) { return at::torch_name(block); }); \
  }
#define HEATPP_BINARY(name, torch_name, doc)                                                            \
  DNDarray name(const Operand& a, const Operand& b) {                                                   \
    const Operand operands[] = {a, b};                                                                  \
    return combine(#name, operands, [](auto& blocks) { return at::torch_name(blocks[0], blocks[1]); }); \
  }
#include <heatpp/ops/elementwise.inc>
#undef HEATPP_UNARY
#undef HEATPP_BINARY

DNDarray where(const DNDarray& condition, const Operand& a, const Operand& b) {
  const Operand operands[] = {condition.astype(bool_), a, b};
  return combine("where", operands, [](auto& blocks) { return at::where(blocks[0], blocks[1], blocks[2]); });
}

DNDarray clip(const DNDarray& x, const Operand& low, const Operand& high) {
  const Operand operands[] = {x, low, high};
  return combine("clip", operands,
                 [](auto& blocks) { return at::minimum(at::maximum(blocks[0], blocks[1]), blocks[2]); });
}

const DNDarray& operator+=(const DNDarray& x, const Operand& b) {
  return in_place("add", x, b, [](const at::Tensor& block, const at::Tensor& other) { block.add_(other); });
}
const DNDarray& operator-=(const DNDarray& x, const Operand& b) {
  return in_place("subtract", x, b, [](const at::Tensor& block, const at::Tensor& other) { block.sub_(other); });
}
const DNDarray& operator*=(const DNDarray& x, const Operand& b) {
  return in_place("multiply", x, b, [](const at::Tensor& block, const at::Tensor& other) { block.mul_(other); });
}
const DNDarray& operator/=(const DNDarray& x, const Operand& b) {
  return in_place("divide", x, b, [](const at::Tensor& block, const at::Tensor& other) { block.div_(other); });
}

}  // namespace heatpp
