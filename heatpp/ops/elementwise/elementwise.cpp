#include <heatpp/ops/elementwise/elementwise.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/detail/close.hpp>
#include <heatpp/ops/elementwise/detail/elementwise_blocks.hpp>
#include <heatpp/ops/elementwise/detail/fused_functions.hpp>
#include <heatpp/ops/elementwise/detail/run_blocks.hpp>
#include <heatpp/ops/operands/detail/align_pending.hpp>
#include <heatpp/ops/operands/detail/origin.hpp>
#include <heatpp/ops/operands/index.hpp>

namespace heatpp {
namespace local = detail::local;
namespace runs = detail::runs;
namespace {

using Fused = const local::FusedFunction*;

template <class F>
DNDarray unary(const char* op, const DNDarray& x, F f, Fused fused = nullptr) {
  if (auto block = local::fused_unary(fused, op, x)) return detail::wrap(*std::move(block), x.layout(), x.comm());
  const Operand operands[] = {x};
  auto block = detail::with_errors_of(op, operands, [&] { return f(x.larray()); });
  return detail::wrap(std::move(block), x.layout(), x.comm());
}

/// What a function takes beside an array, and the common dtype of its operands (elementwise.inc).
enum class Numbers { fitting, floating, truths, compared, exponents, kept };

/// Returns the common floating dtype of operands; whole numbers beside the arrays do not count.
Dtype floating_type(std::span<const Operand> operands) {
  auto dtype = bool_;
  for (const auto& operand : operands)
    if (operand.array()) dtype = promote_types(dtype, operand.array()->dtype());
  dtype = inexact_type(dtype);
  for (const auto& operand : operands)
    if (!operand.array()) dtype = result_type(dtype, operand.number());
  return dtype;
}

/// Converts blocks to the dtype that NumPy computes in, if LibTorch would take another.
void convert(Numbers numbers, std::span<const Operand> operands, std::vector<at::Tensor>& blocks) {
  if (const auto* x = operands[0].array(); numbers == Numbers::exponents && x)
    blocks[0] = blocks[0].to(detail::to_torch(inexact_type(x->dtype())));
  if (numbers == Numbers::fitting) local::convert_to_meet(blocks, detail::common_type(operands));
  if (numbers == Numbers::floating) local::convert_to_meet(blocks, floating_type(operands));
}

/// Only whole exponents pass, as in NumPy. A block does not tell: next to an array without axes it has that dtype.
void check_exponents(const Operand& exponents) {
  const auto dtype = exponents.array() ? exponents.array()->dtype() : exponents.number().default_dtype();
  if (!is_whole(dtype)) detail::raise<TypeError>("ldexp", "got exponents of {}; expected whole numbers", name(dtype));
}

/// Returns the block of a function that formulas have, or nullopt if it has to be computed at once.
std::optional<at::Tensor> fused_block(Fused fused, const char* op, Numbers numbers, std::span<const Operand> operands,
                                      std::span<const at::Tensor> blocks) {
  if (!fused || !detail::fused::is_worthwhile(blocks) || (fused->by_number && operands[1].array())) return std::nullopt;
  if (numbers == Numbers::compared) return local::fused_block(fused, op, local::comparison_type(blocks), blocks);
  const auto kept = fused->by_condition ? operands.subspan(1) : operands;
  const auto type = numbers == Numbers::floating ? floating_type(kept) : detail::common_type(kept);
  return local::fused_block(fused, op, detail::to_torch(type), blocks);
}

template <class F>
DNDarray combine(const char* op, Numbers numbers, std::span<const Operand> operands, F f, Fused fused = nullptr) {
  if (numbers == Numbers::exponents) check_exponents(operands[1]);
  auto [blocks, layout, comm] = detail::align_pending(op, operands);
  if (auto block = fused_block(fused, op, numbers, operands, blocks))
    return detail::wrap(*std::move(block), std::move(layout), comm);
  for (const auto& block : blocks) detail::fused::computed(block);
  convert(numbers, operands, blocks);
  if (numbers == Numbers::fitting || numbers == Numbers::kept) local::check_numbers(op, blocks);
  else local::widen_to_numbers(blocks);
  local::widen_halves(blocks);
  if (numbers == Numbers::compared) local::compare_in_double(blocks);
  auto local = detail::with_errors_of(op, operands, [&] { return f(blocks); });
  return detail::wrap(std::move(local), std::move(layout), comm);
}

/// Whether the result of floating `a` and `b` fits in the memory of the operand's block, which must be LibTorch's own
/// memory without other references.
bool is_free(const Operand& operand, const at::Tensor& block, const at::Tensor& a, const at::Tensor& b) {
  constexpr std::size_t handles = 2;  // handles of the block: the array's, and `block`
  const auto* x = operand.temporary();
  if (!x || !block.is_same(x->larray()) || !detail::is_sole(*x, handles) || !block.is_contiguous()) return false;
  if (!block.is_cpu() || block.storage().data_ptr().get_deleter() != at::getCPUAllocator()->raw_deleter()) return false;
  const auto type = block.scalar_type();
  const bool numbers = a.scalar_type() != at::kBool && b.scalar_type() != at::kBool;
  return numbers && (type == at::kFloat || type == at::kDouble) && type == at::result_type(a, b) &&
         block.sizes() == at::infer_size(a.sizes(), b.sizes());
}

/// Computes f(out, a, b) into the memory of a free operand, else function(a, b).
template <class F, class G>
DNDarray of_temporaries(const char* op, Numbers numbers, const std::array<Operand, 2> operands, F f, G function,
                        Fused fused) {
  return combine(
      op, numbers, operands,
      [&](auto& blocks) {
        for (std::size_t i = 0; i < 2; ++i)
          if (is_free(operands[i], blocks[i], blocks[0], blocks[1])) {
            auto out = blocks[i];
            return f(out, blocks[0], blocks[1]);
          }
        return function(blocks[0], blocks[1]);
      },
      fused);
}

/// Whether a limit of clip has an effect. As in NumPy, a number has none if it ends the range of whole numbers or lies
/// beyond it.
bool limits(const std::optional<Operand>& limit, Dtype dtype, bool from_above) {
  if (!limit || limit->array() || !limit->number().is_integral() || !is_integral(dtype)) return limit.has_value();
  const auto number = limit->number().to<std::int64_t>();
  return from_above ? number < iinfo(dtype).max : number > iinfo(dtype).min;
}

/// Returns the two results of a function of one array.
template <class F>
std::pair<DNDarray, DNDarray> two_results(const char* op, const DNDarray& x, F f) {
  const Operand operands[] = {x};
  auto [first, second] = detail::with_errors_of(op, operands, [&] { return f(x.larray()); });
  return {detail::wrap(std::move(first), x.layout(), x.comm()), detail::wrap(std::move(second), x.layout(), x.comm())};
}

/// Writes a result where the options say. Throws as index_put, and TypeError if `out` has another kind of dtype.
DNDarray written_out(const char* op, DNDarray result, const OutOptions& options) {
  auto* out = options.out.array();
  const auto& mask = options.where;
  if (mask && mask->dtype() != bool_)
    detail::raise<TypeError>(op, "got where of {}; expected bool", name(mask->dtype()));
  if (!out) return mask ? where(*mask, result, 0) : result;
  detail::check_kind(op, result.dtype(), out->dtype());
  if (!detail::broadcasts_to(result.shape(), out->shape()))
    detail::raise<ValueError>(op, "got a result of shape {} for out of shape {}; expected one that broadcasts to it",
                              to_string(result.shape()), to_string(out->shape()));
  out->index_put({ellipsis}, mask ? where(*mask, result, *out) : std::move(result));
  return *out;
}

}  // namespace

#define HEATPP_UNARY(name, function)                                               \
  DNDarray name(const DNDarray& x) {                                               \
    static const auto* const fused = local::fused_function(#name);                 \
    return unary(                                                                  \
        #name, x, [](const at::Tensor& block) { return function(block); }, fused); \
  }                                                                                \
  DNDarray name(const DNDarray& x, const OutOptions& options) { return written_out(#name, name(x), options); }
#define HEATPP_BINARY(name, function, numbers)                                                                  \
  DNDarray name(const Operand& a, const Operand& b) {                                                           \
    const Operand operands[] = {a, b};                                                                          \
    static const auto* const fused = local::fused_function(#name);                                              \
    return combine(                                                                                             \
        #name, Numbers::numbers, operands, [](auto& blocks) { return function(blocks[0], blocks[1]); }, fused); \
  }                                                                                                             \
  DNDarray name(const Operand& a, const Operand& b, const OutOptions& options) {                                \
    return written_out(#name, name(a, b), options);                                                             \
  }
#include <heatpp/ops/elementwise/elementwise.inc>
#undef HEATPP_UNARY
#undef HEATPP_BINARY

#define HEATPP_OPERATOR(result, name, numbers, written, function)                                                   \
  DNDarray detail::result(Operand a, Operand b) {                                                                   \
    static const auto* const fused = local::fused_function(#name);                                                  \
    const auto into = [](at::Tensor& out, const at::Tensor& x, const at::Tensor& y) { return written(out, x, y); }; \
    return of_temporaries(                                                                                          \
        #name, Numbers::numbers, {std::move(a), std::move(b)}, into,                                                \
        [](const at::Tensor& x, const at::Tensor& y) { return function(x, y); }, fused);                            \
  }
HEATPP_OPERATOR(sum_of, add, fitting, at::add_out, local::add)
HEATPP_OPERATOR(difference_of, subtract, fitting, at::sub_out, local::subtract)
HEATPP_OPERATOR(product_of, multiply, fitting, at::mul_out, local::multiply)
HEATPP_OPERATOR(quotient_of, divide, floating, at::div_out, local::divide)
#undef HEATPP_OPERATOR

DNDarray where(const DNDarray& condition, const Operand& a, const Operand& b) {
  const Operand operands[] = {condition.astype(bool_), a, b};
  const auto type = detail::to_torch(detail::common_type(std::span(operands).last(2)));
  // LibTorch gives two numbers its own default dtype; copies of them are no numbers.
  const auto as_type = [type](const at::Tensor& block) {
    return block.to(type, /*non_blocking=*/false, /*copy=*/block.unsafeGetTensorImpl()->is_wrapped_number());
  };
  static const auto* const fused = local::fused_function("where");
  const auto selected = [=](auto& blocks) {
    return runs::where(blocks[0].to(at::kBool), as_type(blocks[1]), as_type(blocks[2]));
  };
  return combine("where", Numbers::kept, operands, selected, fused);
}

DNDarray clip(const DNDarray& x, const std::optional<Operand>& low, const std::optional<Operand>& high) {
  const bool from_below = limits(low, x.dtype(), false), from_above = limits(high, x.dtype(), true);
  if (!from_below && !from_above) return copy(x);
  std::vector<Operand> operands;
  operands.reserve(3);
  operands.emplace_back(x);
  if (from_below) operands.push_back(*low);
  if (from_above) operands.push_back(*high);
  const auto dtype = detail::common_type(operands);
  const bool numbers = from_below && from_above && !low->array() && !high->array();
  const bool in_one_pass = numbers && dtype != bool_ && !is_complex(dtype);
  static const Fused one_limit[] = {local::fused_function("minimum"), local::fused_function("maximum")};
  static const auto* const both_limits = local::fused_function("clip");
  const auto clipped = [&](auto& blocks) {
    for (auto& block : blocks) block = block.to(detail::to_torch(dtype));
    if (in_one_pass)
      return at::clamp(blocks[0], detail::element_of(low->number(), dtype), detail::element_of(high->number(), dtype));
    const auto raised = from_below ? local::maximum(blocks[0], blocks[1]) : blocks[0];
    return from_above ? local::minimum(raised, blocks.back()) : raised;
  };
  return combine("clip", Numbers::kept, operands, clipped,
                 from_below && from_above ? both_limits : one_limit[from_below ? 1 : 0]);
}

DNDarray round(const DNDarray& x, int decimals) {
  return unary("round", x, [=](const at::Tensor& block) { return local::round(block, decimals); });
}

DNDarray angle(const DNDarray& x, const AngleOptions& options) { return options.deg ? rad2deg(angle(x)) : angle(x); }

DNDarray nan_to_num(const DNDarray& x, const NanToNumOptions& options) {
  return unary("nan_to_num", x, [&](const at::Tensor& block) {
    return at::nan_to_num(block, options.nan, options.posinf, options.neginf);
  });
}

std::pair<DNDarray, DNDarray> modf(const DNDarray& x) { return two_results("modf", x, local::modf); }

std::pair<DNDarray, DNDarray> frexp(const DNDarray& x) {
  return two_results("frexp", x, [](const at::Tensor& block) { return at::frexp(local::inexact(block)); });
}

std::pair<DNDarray, DNDarray> divmod(const Operand& a, const Operand& b) {
  return {floor_divide(a, b), remainder(a, b)};
}

DNDarray isclose(const Operand& a, const Operand& b, const CloseOptions& options) {
  if (auto close = detail::close_in_one_pass(a, b, options)) return *std::move(close);
  const Operand operands[] = {a, b};
  return combine("isclose", Numbers::truths, operands,
                 [&](auto& blocks) { return local::isclose(blocks[0], blocks[1], options); });
}

}  // namespace heatpp
