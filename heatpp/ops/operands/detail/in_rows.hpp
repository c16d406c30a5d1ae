#pragma once

#include <heatpp/ops/operands/detail/axis_order.hpp>

#include <ATen/Parallel.h>

namespace heatpp::detail {

/// Calls f(data, rows, stride, width) for each plane of the last two axes, from `axis` on.
template <class T, class F>
void in_planes(const at::Tensor& block, std::int64_t axis, const T* data, const F& f) {
  if (axis + 1 == block.dim()) return f(data, std::int64_t{1}, std::int64_t{0}, block.size(axis));
  if (axis + 2 == block.dim()) return f(data, block.size(axis), block.stride(axis), block.size(axis + 1));
  for (std::int64_t i = 0; i < block.size(axis); ++i) in_planes(block, axis + 1, data + i * block.stride(axis), f);
}

/// Calls f(data, rows, stride, width) for parts of a block on the CPU that together hold each element once: rows of
/// `width` neighbors, `stride` elements apart. If the elements lie in one run, it is the only row. A host's brick
/// between ghost cells gives its planes, without a copy. A block with short runs is copied first, and so is one that
/// several threads read, which share long rows.
template <class T, class F>
void in_rows(const at::Tensor& block, const F& f) {
  constexpr std::int64_t long_enough = 32;
  auto run = block.resolve_neg();
  run = AxisOrder::in_memory(run).permuted(run);
  const bool planes = !run.is_contiguous() && run.stride(-1) == 1 && run.size(-1) >= long_enough;
  if (planes && at::get_num_threads() == 1) return in_planes(run, 0, run.const_data_ptr<T>(), f);
  run = run.contiguous();
  f(run.const_data_ptr<T>(), std::int64_t{1}, std::int64_t{0}, run.numel());
}

}  // namespace heatpp::detail
