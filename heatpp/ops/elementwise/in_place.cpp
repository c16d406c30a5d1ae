#include <heatpp/ops/elementwise/in_place.hpp>

#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/detail/elementwise_blocks.hpp>
#include <heatpp/ops/elementwise/detail/fused_functions.hpp>
#include <heatpp/ops/operands/detail/align_pending.hpp>
#include <heatpp/ops/operands/detail/origin.hpp>

namespace heatpp {
namespace local = detail::local;
namespace {

/// Returns the block of b in the dtype in which NumPy computes before it writes the result in that of `x`. LibTorch
/// would take float32 for float32 with int64, and lets arrays without axes give way.
at::Tensor block_to_meet(const DNDarray& x, const Operand& b, at::Tensor block) {
  const auto dtype = b.array() ? promote_types(x.dtype(), b.array()->dtype()) : x.dtype();
  if (dtype == x.dtype()) return block;
  block = block.to(detail::to_torch(dtype));
  return block.dim() == 0 && x.ndim() > 0 ? block.unsqueeze(0) : block;
}

/// Whether the result was computed together with operands, or will be.
bool is_fused(const char* op, DNDarray& x, const Operand& b, const at::Tensor& block) {
  const auto* const function = local::fused_function(std::string_view(op).substr(0, std::string_view(op).size() - 1));
  const at::Tensor blocks[] = {detail::pending_block(x), block};
  const Operand operands[] = {x, b};
  if (!function || (function->by_number && b.array())) return false;
  return detail::common_type(operands) == x.dtype() && local::fused_in_place(function, op, x, blocks);
}

template <class F>
DNDarray& in_place(const char* op, DNDarray& x, const Operand& b, F f) {
  if (b.array()) detail::check_kind(op, b.array()->dtype(), x.dtype());
  const bool pending = local::is_pending_alone(x);
  if (!pending) detail::own(op, x, b.temporary());
  auto block = detail::align_pending_to(op, x, b);
  if (detail::fused::is_pending(detail::pending_block(x)) || detail::fused::is_pending(block))
    if (is_fused(op, x, b, block)) return x;
  if (pending) detail::own(op, x, b.temporary());
  block = block_to_meet(x, b, detail::fused::computed(block));
  const Operand operands[] = {x, b};
  // Otherwise other elements of this memory would be written while they are read.
  if (block.is_alias_of(x.larray()) && !block.is_same(x.larray())) block = block.clone();
  const at::Tensor blocks[] = {x.larray(), block};
  local::check_numbers(op, blocks);
  detail::with_errors_of(op, operands, [&] { f(x.larray(), block); });
  return x;
}

template <class F>
DNDarray& in_place(const char* op, DNDarray& x, F f) {
  detail::own(op, x);
  const Operand operands[] = {x};
  detail::with_errors_of(op, operands, [&] { f(x.larray()); });
  return x;
}

}  // namespace

#define HEATPP_IN_PLACE(name, written)                                                                 \
  DNDarray& name(DNDarray& array, const Operand& operand) {                                            \
    return in_place(#name, array, operand, [](const at::Tensor& x, const at::Tensor& b) { written; }); \
  }                                                                                                    \
  DNDarray name(Selection&& part, const Operand& operand) {                                            \
    return detail::changed(                                                                            \
        std::move(part), [&](DNDarray& x) { name(x, operand); }, operand.temporary());                 \
  }
HEATPP_IN_PLACE(add_, local::add_(x, b))
HEATPP_IN_PLACE(subtract_, local::subtract_(x, b))
HEATPP_IN_PLACE(multiply_, local::multiply_(x, b))
HEATPP_IN_PLACE(divide_, local::divide_(x, b))
HEATPP_IN_PLACE(floor_divide_, local::write(x, local::floor_divide(x, b)))
HEATPP_IN_PLACE(remainder_, local::write(x, local::remainder(x, b)))
HEATPP_IN_PLACE(fmod_, local::write(x, local::fmod(x, b)))
HEATPP_IN_PLACE(power_, local::write(x, local::power(x, b)))
HEATPP_IN_PLACE(bitwise_and_, x.bitwise_and_(b))
HEATPP_IN_PLACE(bitwise_or_, x.bitwise_or_(b))
HEATPP_IN_PLACE(bitwise_xor_, x.bitwise_xor_(b))
HEATPP_IN_PLACE(left_shift_, local::write(x, local::left_shift(x, b)))
HEATPP_IN_PLACE(right_shift_, local::write(x, local::right_shift(x, b)))
HEATPP_IN_PLACE(gcd_, local::write(x, local::gcd(x, b)))
HEATPP_IN_PLACE(lcm_, local::write(x, local::lcm(x, b)))
HEATPP_IN_PLACE(copysign_, x.copysign_(b))
HEATPP_IN_PLACE(hypot_, local::write(x, local::hypot(x, b)))
#undef HEATPP_IN_PLACE

DNDarray& negative_(DNDarray& x) {
  return in_place("negative_", x,
                  [](const at::Tensor& block) { (block.is_complex() ? at::view_as_real(block) : block).neg_(); });
}
DNDarray& bitwise_not_(DNDarray& x) {
  return in_place("bitwise_not_", x, [](const at::Tensor& block) { block.bitwise_not_(); });
}
DNDarray& nan_to_num_(DNDarray& x, const NanToNumOptions& options) {
  return in_place("nan_to_num_", x,
                  [&](const at::Tensor& block) { block.nan_to_num_(options.nan, options.posinf, options.neginf); });
}

DNDarray negative_(Selection&& x) {
  return detail::changed(std::move(x), [](DNDarray& part) { negative_(part); });
}
DNDarray bitwise_not_(Selection&& x) {
  return detail::changed(std::move(x), [](DNDarray& part) { bitwise_not_(part); });
}
DNDarray nan_to_num_(Selection&& x, const NanToNumOptions& options) {
  return detail::changed(std::move(x), [&](DNDarray& part) { nan_to_num_(part, options); });
}

}  // namespace heatpp
