#include <heatpp/ops/calculus/scan.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/group_along.hpp>
#include <heatpp/core/detail/cuts/stretched.hpp>
#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/ops/elementwise/detail/elementwise_blocks.hpp>
#include <heatpp/ops/joining/join.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/origin.hpp>
#include <heatpp/ops/reductions/detail/without_nan.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/reshape.hpp>

namespace heatpp {
namespace {

template <class Local, class Combine>
DNDarray scan(const char* op, const DNDarray& array, const ScanOptions& options, ReduceOp across, Local local_scan,
              Combine combine) {
  if (array.ndim() == 0) return scan(op, flatten(array), options, across, local_scan, combine);
  const auto given = options.axis ? array : flatten(array);
  const auto axis = sanitize_axis(options.axis.value_or(0), given.ndim(), op);
  if (options.dtype == bool_) {  // LibTorch does not scan bool
    auto in_numbers = options;
    in_numbers.dtype = int64;
    return not_equal(scan(op, given.astype(bool_), in_numbers, across, local_scan, combine), 0);
  }
  // Narrow floats are added in float32, with the same result on any number of ranks.
  if (const auto dtype = options.dtype.value_or(given.dtype()); dtype == float16 || dtype == bfloat16) {
    auto wide = options;
    wide.dtype = float32;
    return scan(op, given.astype(dtype), wide, across, local_scan, combine).astype(dtype);
  }
  const auto x = options.dtype ? given.astype(*options.dtype) : given;
  const auto type = options.dtype ? std::optional(x.larray().scalar_type()) : std::nullopt;
  const auto neutral = across == ReduceOp::sum ? 0 : 1;
  const Operand operands[] = {x};
  auto local = detail::with_errors_of(op, operands, [&] { return local_scan(x.larray(), axis, type); });
  if (x.layout().cut_along(axis).ranks() > 1) {
    const auto group = detail::group_along(x, axis);
    const auto n = local.size(axis);
    auto slice = x.lshape();
    slice[static_cast<std::size_t>(axis)] = 1;
    auto before = n > 0 ? local.narrow(axis, n - 1, 1).cpu().clone(at::MemoryFormat::Contiguous)
                        : at::full(slice, neutral, local.options().device(at::kCPU));
    group.exscan(detail::buffer_of(before), across);
    if (group.rank() > 0) combine(local, before.to(local.device()));
  }
  auto result = detail::wrap(std::move(local), x.layout(), x.comm());
  if (!options.include_initial) return result;
  const auto layout = detail::with_cut(x.layout(), axis, detail::Cut::even(1, x.layout().cut_along(axis).ranks()));
  const auto block = at::full(layout.local_shape(x.comm().rank()), neutral, result.larray().options());
  return concatenate({detail::wrap(block, layout, x.comm()), result}, axis);
}

void check_axis_given(const char* op, const DNDarray& x, const ScanOptions& options) {
  if (!options.axis && x.ndim() > 1)
    detail::raise<ValueError>(op, "got no axis for an array of shape {}; expected one", to_string(x.shape()));
}

template <class Scan>
DNDarray& in_place(const char* op, DNDarray& x, int axis, Scan scan) {
  // Whole numbers wrap in their own dtype as in int64.
  const auto dtype = is_integral(x.dtype()) ? std::optional(x.dtype()) : std::nullopt;
  const auto result = scan(x, {.axis = axis, .dtype = dtype});
  detail::own(op, x, &result);
  const Operand operands[] = {x};
  detail::with_errors_of(op, operands, [&] { detail::local::write(x.larray(), result.larray()); });
  return x;
}

}  // namespace

DNDarray cumsum(const DNDarray& x, const ScanOptions& options) {
  return scan(
      "cumsum", x, options, ReduceOp::sum,
      [](const at::Tensor& t, int axis, auto type) { return at::cumsum(t, axis, type); },
      [](at::Tensor& local, const at::Tensor& before) { detail::local::add_(local, before); });
}

DNDarray cumprod(const DNDarray& x, const ScanOptions& options) {
  return scan(
      "cumprod", x, options, ReduceOp::prod,
      [](const at::Tensor& t, int axis, auto type) { return at::cumprod(t, axis, type); },
      [](at::Tensor& local, const at::Tensor& before) { local.mul_(before); });
}

DNDarray cumulative_sum(const DNDarray& x, const ScanOptions& options) {
  check_axis_given("cumulative_sum", x, options);
  return cumsum(x, options);
}
DNDarray cumulative_prod(const DNDarray& x, const ScanOptions& options) {
  check_axis_given("cumulative_prod", x, options);
  return cumprod(x, options);
}

DNDarray& cumsum_(DNDarray& x, int axis) {
  return in_place("cumsum_", x, axis, [](const auto& y, const ScanOptions& options) { return cumsum(y, options); });
}
DNDarray& cumprod_(DNDarray& x, int axis) {
  return in_place("cumprod_", x, axis, [](const auto& y, const ScanOptions& options) { return cumprod(y, options); });
}

DNDarray cumsum_(Selection&& x, int axis) {
  return detail::changed(std::move(x), [=](DNDarray& part) { cumsum_(part, axis); });
}
DNDarray cumprod_(Selection&& x, int axis) {
  return detail::changed(std::move(x), [=](DNDarray& part) { cumprod_(part, axis); });
}

DNDarray nancumsum(const DNDarray& x, const ScanOptions& options) { return cumsum(detail::without_nan(x, 0), options); }
DNDarray nancumprod(const DNDarray& x, const ScanOptions& options) {
  return cumprod(detail::without_nan(x, 1), options);
}

}  // namespace heatpp
