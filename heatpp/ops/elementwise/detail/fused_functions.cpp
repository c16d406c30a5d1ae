#include <heatpp/ops/elementwise/detail/fused_functions.hpp>

#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/detail/elementwise_blocks.hpp>
#include <heatpp/ops/operands/detail/align_pending.hpp>

#include <algorithm>
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
/// Squares floating numbers; local::power does the same with those that had this dtype before.
Built power(Formula& formula, Values v, Type type) {
  const bool two = v[1] == formula.of_number(2, type);  // equal numbers are one value
  if (!is_float(type) || !two || formula.node(v[0]).op == Op::convert) return std::nullopt;
  return square(formula, v, type);
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
                                       {"isnan", isnan},
                                       {"isfinite", magnitude<true>},
                                       {"isinf", magnitude<false>},
                                       {"where", select}};

/// Returns the function of values that are converted to `type`, of select all but the first.
fused::Build build_of(const FusedFunction* function, Type type) {
  return [=](Formula& formula, Values given) -> Built {
    std::vector<Value> values;
    for (const auto value : given) {
      const bool condition = given.size() == 3 && values.empty();
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
  return impl && impl.use_count() == 1 && !impl->in_place && !impl->read_only && !impl->pinned &&
         impl->local.use_count() == 1 && fused::is_pending(impl->local);
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
