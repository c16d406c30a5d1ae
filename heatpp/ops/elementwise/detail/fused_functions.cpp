#include <heatpp/ops/elementwise/detail/fused_functions.hpp>

#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/detail/elementwise_blocks.hpp>
#include <heatpp/ops/operands/detail/align_pending.hpp>

#include <algorithm>
#include <c10/util/accumulate.h>
#include <limits>

namespace heatpp::detail::local {
namespace {

using fused::Formula;
using fused::Op;
using fused::Type;
using fused::Value;
using Values = std::span<const Value>;
using Built = std::optional<Value>;

bool is_float(Type type) { return type == Type::float32 || type == Type::float64; }

template <Op op>
Built arithmetic(Formula& formula, Values v, Type type) {
  return formula.apply(op, {v[0], v[1]}, type);
}
template <Op op, bool swapped = false>
Built comparison(Formula& formula, Values v, Type) {
  return formula.apply(op, {v[swapped ? 1 : 0], v[swapped ? 0 : 1]}, Type::boolean);
}
/// Has kernels for truth values only.
template <Op op>
Built logic(Formula& formula, Values v, Type) {
  return formula.apply(op, {v[0], v.back()}, Type::boolean);
}
template <Op op>
Built of_one(Formula& formula, Values v, Type type) {
  return formula.apply(op, {v[0]}, type);
}
Built square(Formula& formula, Values v, Type type) { return formula.apply(Op::multiply, {v[0], v[0]}, type); }
Built reciprocal(Formula& formula, Values v, Type type) {
  if (!is_float(type)) return std::nullopt;
  return formula.apply(Op::divide, {formula.of_number(1, type), v[0]}, type);
}
/// Squares or cubes floating numbers; LibTorch does the same with those that had this dtype before.
Built power(Formula& formula, Values v, Type type) {
  const auto is = [&](double number) { return v[1] == formula.of_number(number, type); };  // equal ones are one value
  const bool two = is(2), three = is(3);
  if (!is_float(type) || !(two || three) || formula.node(v[0]).op == Op::convert) return std::nullopt;
  const auto squared = square(formula, v, type);
  return two ? squared : formula.apply(Op::multiply, {*squared, v[0]}, type);
}
/// LibTorch's and this library's order of equal zeros may differ if one block is broadcast.
template <Op op>
Built extremum(Formula& formula, Values v, Type type) {
  const auto is_broadcast = [&](Value value) {
    const auto& node = formula.node(value);
    if (node.op == Op::convert) return formula.node(node.arguments[0]).op == Op::block;
    return node.op == Op::block && formula.blocks()[node.bits].numel() != c10::multiply_integers(formula.shape());
  };
  if (is_broadcast(v[0]) || is_broadcast(v[1])) return std::nullopt;
  return formula.apply(op, {v[0], v[1]}, type);
}
Built clip(Formula& formula, Values v, Type type) {
  const auto raised = extremum<Op::maximum>(formula, v.first(2), type);
  if (!raised) return std::nullopt;
  const Value both[] = {*raised, v[2]};
  return extremum<Op::minimum>(formula, both, type);
}
/// Leaves whole numbers to the function, which returns them.
template <Op op>
Built rounding(Formula& formula, Values v, Type type) {
  return is_float(type) ? formula.apply(op, {v[0]}, type) : std::nullopt;
}
Built isnan(Formula& formula, Values v, Type type) {
  if (!is_float(type)) return std::nullopt;
  return formula.apply(Op::different, {v[0], v[0]}, Type::boolean);
}
/// Compares the absolute value with the largest finite number.
template <bool finite>
Built magnitude(Formula& formula, Values v, Type type) {
  if (!is_float(type)) return std::nullopt;
  const auto size = formula.apply(Op::absolute, {v[0]}, type);
  const auto most = formula.of_number(
      type == Type::float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max(), type);
  if (finite) return formula.apply(Op::less_or_equal, {*size, most}, Type::boolean);
  return formula.apply(Op::less, {most, *size}, Type::boolean);
}
Built select(Formula& formula, Values v, Type type) { return formula.apply(Op::select, {v[0], v[1], v[2]}, type); }

constexpr FusedFunction functions[] = {{"add", arithmetic<Op::add>},
                                       {"subtract", arithmetic<Op::subtract>},
                                       {"multiply", arithmetic<Op::multiply>},
                                       {"divide", arithmetic<Op::divide>},
                                       {"power", power, false, true},
                                       {"eq", comparison<Op::equal>},
                                       {"not_equal", comparison<Op::different>},
                                       {"less", comparison<Op::less>},
                                       {"less_equal", comparison<Op::less_or_equal>},
                                       {"greater", comparison<Op::less, true>},
                                       {"greater_equal", comparison<Op::less_or_equal, true>},
                                       {"logical_and", logic<Op::both>},
                                       {"logical_or", logic<Op::either>},
                                       {"logical_xor", logic<Op::one_of>},
                                       {"bitwise_and", logic<Op::both>},
                                       {"bitwise_or", logic<Op::either>},
                                       {"bitwise_xor", logic<Op::one_of>},
                                       {"logical_not", logic<Op::opposite>},
                                       {"bitwise_not", logic<Op::opposite>},
                                       {"abs", of_one<Op::absolute>},
                                       {"fabs", of_one<Op::absolute>, true},
                                       {"negative", of_one<Op::negative>},
                                       {"sqrt", of_one<Op::root>, true},
                                       {"square", square},
                                       {"reciprocal", reciprocal},
                                       {"sign", of_one<Op::sign>},
                                       {"maximum", extremum<Op::maximum>},
                                       {"minimum", extremum<Op::minimum>},
                                       {"clip", clip},
                                       {"floor", rounding<Op::floor>},
                                       {"ceil", rounding<Op::ceil>},
                                       {"trunc", rounding<Op::trunc>},
                                       {"rint", of_one<Op::rint>, true},
                                       {"exp", of_one<Op::exp>, true},
                                       {"exp2", of_one<Op::exp2>, true},
                                       {"expm1", of_one<Op::expm1>, true},
                                       {"log", of_one<Op::log>, true},
                                       {"log2", of_one<Op::log2>, true},
                                       {"log10", of_one<Op::log10>, true},
                                       {"log1p", of_one<Op::log1p>, true},
                                       {"sin", of_one<Op::sin>, true},
                                       {"cos", of_one<Op::cos>, true},
                                       {"tan", of_one<Op::tan>, true},
                                       {"arcsin", of_one<Op::asin>, true},
                                       {"arccos", of_one<Op::acos>, true},
                                       {"arctan", of_one<Op::atan>, true},
                                       {"sinh", of_one<Op::sinh>, true},
                                       {"cosh", of_one<Op::cosh>, true},
                                       {"arcsinh", of_one<Op::asinh>, true},
                                       {"arccosh", of_one<Op::acosh>, true},
                                       {"arctanh", of_one<Op::atanh>, true},
                                       {"tanh", of_one<Op::tanh>, true},
                                       {"isnan", isnan},
                                       {"isfinite", magnitude<true>},
                                       {"isinf", magnitude<false>},
                                       {"where", select, false, false, true}};

/// Returns the function of values that are converted to `type`, of select all but the first.
fused::Build build_of(const FusedFunction* function, Type type) {
  return [=](Formula& formula, Values given) -> Built {
    std::vector<Value> values;
    for (const auto value : given) {
      const bool condition = function->by_condition && values.empty();
      const auto converted = formula.converted(value, condition ? Type::boolean : type);
      if (!converted) return std::nullopt;
      values.push_back(*converted);
    }
    return function->build(formula, values, type);
  };
}

}  // namespace

const FusedFunction* fused_function(std::string_view name) {
  const auto* const found = std::ranges::find(functions, name, &FusedFunction::name);
  return found == std::end(functions) ? nullptr : found;
}

at::ScalarType comparison_type(std::span<const at::Tensor> blocks) {
  const auto is_floating = [](const auto& block) { return block.is_floating_point(); };
  if (std::ranges::any_of(blocks, is_floating) && std::ranges::any_of(blocks, needs_double)) return at::kDouble;
  return at::result_type(blocks[0], blocks[1]);
}

std::optional<at::Tensor> fused_unary(const FusedFunction* function, const char* op, const DNDarray& x) {
  const auto& block = pending_block(x);
  const std::span blocks(&block, 1);
  if (!function || !fused::is_worthwhile(blocks)) return std::nullopt;
  const auto dtype = function->inexact ? inexact_type(x.dtype()) : x.dtype();
  return fused_block(function, op, detail::to_torch(dtype), blocks);
}

std::optional<at::Tensor> fused_block(const FusedFunction* function, const char* op, at::ScalarType type,
                                      std::span<const at::Tensor> blocks) {
  const auto wanted = fused::type_of(type);
  if (!wanted) return std::nullopt;
  return fused::fuse(op, blocks, build_of(function, *wanted));
}

bool is_pending_alone(const DNDarray& x) {
  const auto& impl = Access::impl(x);
  return impl && impl->ownership == Ownership::shared && fused::is_pending(impl->local) &&
         sharing_of(x) == Sharing::none;
}

bool fused_in_place(const FusedFunction* function, const char* op, DNDarray& x, std::span<const at::Tensor> blocks) {
  const auto wanted = fused::type_of(blocks[0].scalar_type());
  if (!wanted || !fused::is_worthwhile(blocks)) return false;
  if (!fused::is_pending(blocks[0])) return fused::fuse_into(op, blocks, build_of(function, *wanted));
  auto result = fused::fuse(op, blocks, build_of(function, *wanted));
  if (result) Access::impl(x)->local = *std::move(result);
  return result.has_value();
}

}  // namespace heatpp::detail::local
