#include <heatpp/fft/detail/lines.hpp>

#include <ATen/Parallel.h>
#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

constexpr std::int64_t cache_bytes = 1 << 18;
// So many neighbours fill a line of the cache or two, and the vectors of a processor.
constexpr std::int64_t least_lines = 8;

}  // namespace

at::Tensor transformed_by_lines(const at::Tensor& block, int axis, const LinesTransform& transform) {
  auto shape = block.sizes().vec();
  const auto at = static_cast<std::size_t>(axis);
  const auto n = shape[at];
  const auto outer = std::accumulate(shape.begin(), shape.begin() + axis, std::int64_t{1}, std::multiplies());
  const auto inner = block.numel() / (outer * n);
  const auto lines = block.reshape({outer, n, inner});
  const auto width = std::clamp(cache_bytes / (n * block.element_size()), least_lines, inner);
  const auto groups = (inner + width - 1) / width;
  const auto group = [&](std::int64_t i) {
    const auto first = i % groups * width;
    const auto part = lines.select(0, i / groups).narrow(1, first, std::min(width, inner - first));
    return transform(part.contiguous(), first);
  };
  const auto put = [&](at::Tensor& all, std::int64_t i, const at::Tensor& done) {
    all.select(0, i / groups).narrow(1, i % groups * width, done.size(1)).copy_(done);
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
