#include <heatpp/fft/detail/lines.hpp>

#include <ATen/Parallel.h>
#include <algorithm>
#include <cstring>
#include <numeric>

namespace heatpp::detail {
namespace {

constexpr std::int64_t cache_bytes = 1 << 18;
// So many neighbours fill a line of the cache or two, and the vectors of a processor.
constexpr std::int64_t least_lines = 8;

/// Copies lines that lie side by side, element by element of all.
void copy_rows(const at::Tensor& from, const at::Tensor& to) {
  const auto bytes = from.size(1) * from.element_size();
  const auto* in = static_cast<const std::byte*>(from.const_data_ptr());
  auto* out = static_cast<std::byte*>(to.mutable_data_ptr());
  const auto in_step = from.stride(0) * from.element_size(), out_step = to.stride(0) * to.element_size();
  for (std::int64_t row = 0; row < from.size(0); ++row, in += in_step, out += out_step)
    std::memcpy(out, in, static_cast<std::size_t>(bytes));
}

}  // namespace

at::Tensor transformed_by_lines(const at::Tensor& block, int axis, const LinesTransform& transform) {
  auto shape = block.sizes().vec();
  const auto at = static_cast<std::size_t>(axis);
  const auto n = shape[at];
  const auto outer = std::accumulate(shape.begin(), shape.begin() + axis, std::int64_t{1}, std::multiplies());
  const auto inner = block.numel() / (outer * n);
  const auto lines = block.resolve_conj().resolve_neg().contiguous().view({outer, n, inner});
  const auto width = std::min(inner, std::max(least_lines, cache_bytes / (n * block.element_size())));
  const auto groups = (inner + width - 1) / width;
  const auto group = [&](std::int64_t i) {
    const auto first = i % groups * width;
    const auto part = lines.select(0, i / groups).narrow(1, first, std::min(width, inner - first));
    auto together = at::empty(part.sizes(), part.options());
    copy_rows(part, together);
    return transform(together, first).contiguous();
  };
  const auto put = [&](const at::Tensor& all, std::int64_t i, const at::Tensor& done) {
    copy_rows(done, all.select(0, i / groups).narrow(1, i % groups * width, done.size(1)));
  };
  const auto head = group(0);
  shape[at] = head.size(0);
  if (outer * groups == 1) return head.reshape(shape);
  auto all = at::empty({outer, head.size(0), inner}, head.options());
  put(all, 0, head);
  at::parallel_for(1, outer * groups, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) put(all, i, group(i));
  });
  return all.view(shape);
}

}  // namespace heatpp::detail
