#pragma once

#include <heatpp/ops/operands/detail/around.hpp>

namespace heatpp::detail {

/// Calls f(data, rows, stride, width) for each plane of the last two axes, from `axis` on.
template <class T, class F>
void in_planes(const at::Tensor& block, std::int64_t axis, const T* data, const F& f) {
  if (axis + 1 == block.dim()) return f(data, std::int64_t{1}, std::int64_t{0}, block.size(axis));
  if (axis + 2 == block.dim()) return f(data, block.size(axis), block.stride(axis), block.size(axis + 1));
  for (std::int64_t i = 0; i < block.size(axis); ++i) in_planes(block, axis + 1, data + i * block.stride(axis), f);
}

/// Returns a block on the CPU with its axes in memory order: contiguous, or of long runs along the last axis, as a
/// host's brick between ghost cells, without a copy. A block with short runs is copied.
[[nodiscard]] inline at::Tensor with_long_runs(const at::Tensor& block) {
  constexpr std::int64_t long_enough = 32;
  auto run = block.resolve_neg();
  run = AxisOrder::in_memory(run).permuted(run);
  const bool planes = run.dim() > 1 && run.stride(-1) == 1 && run.size(-1) >= long_enough;
  return planes ? run : run.contiguous();
}

/// Calls f(data, rows, stride, width) for parts of a block on the CPU that together hold each element once: rows of
/// `width` neighbors, `stride` elements apart. If the elements lie in one run, it is the only row.
template <class T, class F>
void in_rows(const at::Tensor& block, const F& f) {
  const auto run = with_long_runs(block);
  if (!run.is_contiguous()) return in_planes(run, 0, run.const_data_ptr<T>(), f);
  f(run.const_data_ptr<T>(), std::int64_t{1}, std::int64_t{0}, run.numel());
}

/// Does in_rows on all threads: calls f(part, data, rows, stride, width) for parts 0 to parts_for(run) - 1 along the
/// first axis of a block with long runs that is not contiguous.
[[nodiscard]] inline std::int64_t parts_for(const at::Tensor& run) {
  return std::clamp<std::int64_t>(run.numel() / worth_a_thread, 1,
                                  std::min<std::int64_t>(at::get_num_threads(), run.size(0)));
}
template <class T, class F>
void in_rows_of_parts(const at::Tensor& run, std::int64_t parts, const F& f) {
  at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto part = begin; part < end; ++part) {
      const auto first = run.size(0) * part / parts, last = run.size(0) * (part + 1) / parts;
      const auto rows = run.narrow(0, first, last - first);
      in_planes(rows, 0, rows.template const_data_ptr<T>(), [&](auto... of_plane) { f(part, of_plane...); });
    }
  });
}

}  // namespace heatpp::detail
