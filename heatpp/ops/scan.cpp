#include <heatpp/ops/detail/align.hpp>
#include <heatpp/ops/scan.hpp>

namespace heatpp {
namespace {

template <class Local, class Combine>
DNDarray scan(const char* op, const DNDarray& x, int axis, ReduceOp across, Local local_scan, Combine combine) {
  axis = sanitize_axis(axis, x.ndim(), op);
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

}  // namespace

DNDarray cumsum(const DNDarray& x, int axis) {
  return scan(
      "cumsum", x, axis, ReduceOp::sum, [](const at::Tensor& t, int a) { return at::cumsum(t, a); },
      [](at::Tensor& local, const at::Tensor& before) { local.add_(before); });
}

DNDarray cumprod(const DNDarray& x, int axis) {
  return scan(
      "cumprod", x, axis, ReduceOp::prod, [](const at::Tensor& t, int a) { return at::cumprod(t, a); },
      [](at::Tensor& local, const at::Tensor& before) { local.mul_(before); });
}

}  // namespace heatpp
