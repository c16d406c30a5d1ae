#include <heatpp/ops/detail/align.hpp>
#include <heatpp/ops/detail/elementwise_blocks.hpp>
#include <heatpp/ops/detail/without_nan.hpp>
#include <heatpp/ops/reshape.hpp>
#include <heatpp/ops/scan.hpp>

namespace heatpp {
namespace {

template <class Local, class Combine>
DNDarray scan(const char* op, const DNDarray& array, std::optional<int> along, ReduceOp across, Local local_scan,
              Combine combine) {
  const auto x = along ? array : flatten(array);
  const auto axis = sanitize_axis(along.value_or(0), x.ndim(), op);
  const Operand operands[] = {x};
  auto local = detail::with_type_errors(op, operands, [&] { return local_scan(x.larray(), axis); });
  if (x.split() == axis && x.comm().size() > 1) {
    const auto n = local.size(axis);
    auto slice = x.lshape();
    slice[static_cast<std::size_t>(axis)] = 1;
    const auto neutral = across == ReduceOp::sum ? 0 : 1;
    auto before = n > 0 ? local.narrow(axis, n - 1, 1).cpu().clone(at::MemoryFormat::Contiguous)
                        : at::full(slice, neutral, local.options().device(at::kCPU));
    x.comm().exscan(detail::buffer_of(before), across);
    if (x.comm().rank() > 0) combine(local, before.to(local.device()));
  }
  return detail::wrap(std::move(local), x.layout(), x.comm());
}

const DNDarray& written(const char* op, const DNDarray& x, const DNDarray& result) {
  const Operand operands[] = {x};
  detail::with_type_errors(op, operands, [&] { detail::local::write(x.larray(), result.larray()); });
  return x;
}

}  // namespace

DNDarray cumsum(const DNDarray& x, std::optional<int> axis) {
  return scan(
      "cumsum", x, axis, ReduceOp::sum, [](const at::Tensor& t, int a) { return at::cumsum(t, a); },
      [](at::Tensor& local, const at::Tensor& before) { detail::local::add_(local, before); });
}

DNDarray cumprod(const DNDarray& x, std::optional<int> axis) {
  return scan(
      "cumprod", x, axis, ReduceOp::prod, [](const at::Tensor& t, int a) { return at::cumprod(t, a); },
      [](at::Tensor& local, const at::Tensor& before) { local.mul_(before); });
}

const DNDarray& cumsum_(const DNDarray& x, int axis) { return written("cumsum_", x, cumsum(x, axis)); }
const DNDarray& cumprod_(const DNDarray& x, int axis) { return written("cumprod_", x, cumprod(x, axis)); }

DNDarray nancumsum(const DNDarray& x, std::optional<int> axis) { return cumsum(detail::without_nan(x, 0), axis); }
DNDarray nancumprod(const DNDarray& x, std::optional<int> axis) { return cumprod(detail::without_nan(x, 1), axis); }

}  // namespace heatpp
