#include <heatpp/ops/reductions/reduce.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/detail/run_blocks.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/align_pending.hpp>
#include <heatpp/ops/operands/detail/axis_order.hpp>
#include <heatpp/ops/reductions/detail/exact_reduction.hpp>
#include <heatpp/ops/reductions/detail/extremes.hpp>
#include <heatpp/ops/reductions/detail/first_extremum.hpp>
#include <heatpp/ops/reductions/detail/float_sums.hpp>
#include <heatpp/ops/reductions/detail/cached/reduced_in_pieces.hpp>
#include <heatpp/ops/reductions/detail/reduced.hpp>
#include <heatpp/ops/reductions/detail/whole_sums.hpp>

#include <cmath>
#include <limits>

namespace heatpp {
namespace {

using Dims = at::IntArrayRef;
using Type = std::optional<at::ScalarType>;  // the requested one

// LibTorch's reductions with one signature. The axes are never empty here, because some read that as "all".
at::Tensor local_sum(const at::Tensor& block, Dims axes, bool keepdims, Type type) {
  if (std::ssize(axes) == block.dim() && !keepdims && !type && detail::is_short(block)) return detail::short_sum(block);
  if (!at::isIntegralType(block.scalar_type(), true) || !block.is_cpu() || type.value_or(at::kLong) != at::kLong)
    return at::sum(block, axes, keepdims, type);
  if (block.scalar_type() != at::kBool || std::ssize(axes) < block.dim() || !block.is_contiguous())
    return detail::whole_sums(block, axes, keepdims);
  return at::full(std::vector<std::int64_t>(keepdims ? axes.size() : 0, 1), detail::runs::count_true(block), at::kLong);
}
/// Makes the elements of the block's last axis contiguous, because vector code needs that.
at::Tensor with_runs(const at::Tensor& block) { return block.stride(-1) > 1 ? block.contiguous() : block; }
/// Whether the reduced axes are long and others lie behind them: LibTorch reads such columns one number at a time.
bool has_columns(const at::Tensor& block, Dims axes) {
  constexpr std::int64_t enough = 16;
  const auto type = block.scalar_type();
  const bool plain = type != at::kBool && type != at::kHalf && type != at::kBFloat16;
  if (!plain || !block.is_cpu() || !block.is_contiguous() || axes.back() + 1 == block.dim()) return false;
  return block.size(axes.back()) >= enough && block.stride(axes.back()) > 1;
}
template <class T>
at::Tensor extremes_of_columns(const at::Tensor& block, Dims axes, T detail::Extremes<T>::*wanted) {
  const auto view = detail::around_axes(block, axes);
  std::vector<detail::Extremes<T>> extremes(static_cast<std::size_t>(view.extents.others()));
  detail::add_extremes(view.data.const_data_ptr<T>(), view.extents, extremes.data());
  const auto result = at::empty(view.kept, block.options());
  std::ranges::transform(extremes, result.data_ptr<T>(), [=](const auto& one) { return one.*wanted; });
  return view.order.restored(result);
}
at::Tensor local_extremum(const at::Tensor& block, Dims axes, bool keepdims, bool largest) {
  if (block.is_complex()) return detail::complex_extremum(block, axes, keepdims, largest);
  if (!has_columns(block, axes)) return (largest ? at::amax : at::amin)(with_runs(block), axes, keepdims);
  const auto result = AT_DISPATCH_ALL_TYPES(block.scalar_type(), "extremum", [&] {
    using Both = detail::Extremes<scalar_t>;
    return extremes_of_columns(block, axes, largest ? &Both::most : &Both::least);
  });
  return keepdims ? result : result.squeeze(axes);
}
at::Tensor local_amax(const at::Tensor& block, Dims axes, bool keepdims, Type) {
  return local_extremum(block, axes, keepdims, true);
}
at::Tensor local_amin(const at::Tensor& block, Dims axes, bool keepdims, Type) {
  return local_extremum(block, axes, keepdims, false);
}
// Returns truth values as bytes, for which LibTorch has vector code.
at::Tensor truth(const at::Tensor& block) {
  return (block.scalar_type() == at::kBool ? block : detail::runs::ne(block, at::zeros({}, block.options())))
      .view(at::kByte);
}
at::Tensor local_any(const at::Tensor& block, Dims axes, bool keepdims, Type) {
  const auto any = block.numel() == 0 ? at::any(block, axes, keepdims) : at::amax(truth(block), axes, keepdims);
  return any.to(at::kBool);
}
at::Tensor local_all(const at::Tensor& block, Dims axes, bool keepdims, Type) {
  const auto all = block.numel() == 0 ? at::all(block, axes, keepdims) : at::amin(truth(block), axes, keepdims);
  return all.to(at::kBool);
}
at::Tensor local_prod(const at::Tensor& block, Dims axes, bool keepdims, Type type) {
  auto result = block;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) result = at::prod(result, *axis, keepdims, type);
  return result;
}

/// Returns f(block, axes, keepdims) of the block with its axes in memory order.
template <class F>
at::Tensor in_memory_order(const at::Tensor& block, Dims axes, bool keepdims, F f) {
  if (block.is_contiguous()) return f(block, axes, keepdims);
  const auto order = detail::AxisOrder::in_memory(block);
  const auto result = order.restored(f(order.permuted(block), order.places_of(axes), true));
  return keepdims ? result : result.squeeze(axes);
}

/// Returns the neutral element of the reduction.
at::Scalar neutral(ReduceOp op, at::ScalarType type, bool extremum) {
  if (!extremum) return op == ReduceOp::prod || op == ReduceOp::min;
  const bool largest = op == ReduceOp::min;
  const auto infinity = largest ? INFINITY : -INFINITY;
  if (at::isComplexType(type)) return c10::complex<double>(infinity, infinity);
  if (at::isFloatingType(type)) return infinity;
  if (type == at::kBool) return largest;
  return AT_DISPATCH_INTEGRAL_TYPES(type, "neutral", [&]() -> at::Scalar {
    using Limits = std::numeric_limits<scalar_t>;
    return static_cast<std::int64_t>(largest ? Limits::max() : Limits::lowest());
  });
}

void check_extremum(const char* op, const DNDarray& x, const ReduceOptions& options, bool is_empty) {
  if (options.initial) return;
  if (is_empty)
    detail::raise<ValueError>(op, "got an array of shape {} with nothing to reduce; expected at least one element",
                              to_string(x.shape()));
  if (options.where)
    detail::raise<ValueError>(op, "got where without initial; expected what the result of no elements is");
}

/// An initial value must be of the result's dtype, except for a fraction.
void check_initial(const char* op, const Scalar& initial, Dtype result) {
  if (initial.is_complex() && !is_complex(result))
    detail::raise<TypeError>(op, "got a complex initial value for a result of {}; expected a real one", name(result));
  detail::check_in_range(op, initial, result);
}

void check_not_reproducible(const char* op, const ReduceOptions& options) {
  if (options.reproducible) detail::raise<ValueError>(op, "got reproducible = true; expected it of a sum or mean");
}

void across_ranks(at::Tensor& local, const Communicator& comm, ReduceOp across) {
  local = local.contiguous();
  if (local.is_complex() && across != ReduceOp::sum && across != ReduceOp::prod)
    detail::complex_extremum_across(local, comm, across == ReduceOp::max);
  else comm.allreduce(detail::buffer_of(local), across);
}

/// Whether the sum is of so few elements that local_sum takes a shorter way.
bool is_short_total(const DNDarray& x, const detail::ReducedAxes& reduced) {
  return std::ssize(reduced.axes) == x.ndim() && detail::is_short(detail::pending_block(x));
}

template <class Local>
DNDarray reduce(const char* op, const DNDarray& array, const ReduceOptions& options, Local local_reduce,
                ReduceOp across, bool extremum) {
  const auto reduced = detail::reduced_axes(op, array, options);
  auto layout = reduced.result_layout(array.layout());
  if (extremum) check_extremum(op, array, options, reduced.count == 0);
  if (across == ReduceOp::prod) check_not_reproducible(op, options);
  const auto converted = options.dtype ? std::optional(array.astype(*options.dtype)) : std::nullopt;
  const auto& x = converted ? *converted : array;
  if (across == ReduceOp::sum && detail::sums_exactly(x.comm(), x.dtype(), options.reproducible)) {
    if (options.initial) check_initial(op, *options.initial, x.dtype());
    return detail::exact_sum(op, x, options);
  }
  // Narrow floats are summed in float32, with the same result on any number of ranks.
  const bool narrow = x.dtype() == float16 || x.dtype() == bfloat16;
  const bool widened = narrow && (across == ReduceOp::sum || across == ReduceOp::prod);
  const auto type = widened ? Type(at::kFloat) : options.dtype ? Type(detail::to_torch(x.dtype())) : std::nullopt;
  const auto nothing = neutral(across, detail::to_torch(x.dtype()), extremum);
  const auto mask = options.where ? detail::mask_block(op, x, *options.where) : at::Tensor();
  std::optional<at::Tensor> in_pieces;
  if (!mask.defined() && !is_short_total(x, reduced))
    in_pieces = detail::reduced_in_pieces(x, reduced, {local_reduce, across, extremum, nothing});
  const Operand operands[] = {x};
  auto local = detail::with_errors_of(op, operands, [&] {
    if (in_pieces) return *in_pieces;
    const auto shape = layout.local_shape(x.comm().rank());
    const auto block = reduced.counted(
        mask.defined() ? at::where(mask, x.larray(), at::full({}, nothing, x.larray().options())) : x.larray());
    if (extremum && block.numel() == 0) return at::full(shape, nothing, block.options());
    if (reduced.axes.empty()) return local_reduce(block.unsqueeze(0), Dims{0}, false, type);
    return in_memory_order(block, reduced.axes, reduced.keepdims, [&](const auto& ordered, Dims axes, bool keepdims) {
      return local_reduce(ordered, axes, keepdims, type);
    });
  });
  const auto dtype = widened ? x.dtype() : detail::from_torch(local.scalar_type());
  if (options.initial) check_initial(op, *options.initial, dtype);
  if (reduced.across && reduced.across->size() > 1) across_ranks(local, *reduced.across, across);
  if (options.initial) {
    const auto initial = detail::element_of(*options.initial, dtype);
    local = local_reduce(at::stack({at::full_like(local, initial), local}), Dims{0}, false, local.scalar_type());
  }
  return detail::wrap(local.to(detail::to_torch(dtype)), std::move(layout), x.comm());
}

bool broadcastable(const Shape& a, const Shape& b) {
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i)
    if (a[a.size() - i] != b[b.size() - i] && a[a.size() - i] != 1 && b[b.size() - i] != 1) return false;
  return true;
}

}  // namespace

/// Defines a reduction: how LibTorch reduces a block, how ranks are combined, and whether it has an identity: the
/// result of an empty reduction.
#define HEATPP_REDUCTION(name, local, across, has_identity)                                       \
  DNDarray detail::named::name(const char* op, const DNDarray& x, const ReduceOptions& options) { \
    return reduce(op, x, options, &local_##local, ReduceOp::across, !(has_identity));             \
  }                                                                                               \
  DNDarray name(const DNDarray& x, const ReduceOptions& options) { return detail::named::name(#name, x, options); }
HEATPP_REDUCTION(sum, sum, sum, true)
HEATPP_REDUCTION(prod, prod, prod, true)
HEATPP_REDUCTION(max, amax, max, false)
HEATPP_REDUCTION(min, amin, min, false)
HEATPP_REDUCTION(any, any, max, true)
HEATPP_REDUCTION(all, all, min, true)
#undef HEATPP_REDUCTION

DNDarray real_if_close(const DNDarray& x, double tol) {
  if (!is_complex(x.dtype())) return x;
  const auto limit = tol > 1 ? tol * finfo(x.dtype()).eps : tol;
  return all(abs(imag(x)) < limit).item<bool>() ? real(x) : x;
}

bool allclose(const Operand& a, const Operand& b, const CloseOptions& options) {
  return all(isclose(a, b, options)).item<bool>();
}
bool array_equal(const DNDarray& a, const DNDarray& b, const EqualOptions& options) {
  detail::check_same_comm("array_equal", a.comm(), b.comm());
  if (a.shape() != b.shape()) return false;
  const auto equal = eq(a, b);
  return all(options.equal_nan ? logical_or(equal, logical_and(isnan(a), isnan(b))) : equal).item<bool>();
}
bool array_equiv(const DNDarray& a, const DNDarray& b) {
  detail::check_same_comm("array_equiv", a.comm(), b.comm());
  return broadcastable(a.shape(), b.shape()) && all(eq(a, b)).item<bool>();
}
DNDarray count_nonzero(const DNDarray& x, const ReduceOptions& options) {
  if (options.initial) detail::raise<ValueError>("count_nonzero", "got an initial value; expected none");
  return sum(x.dtype() == bool_ ? x : not_equal(x, 0), options);
}

}  // namespace heatpp
