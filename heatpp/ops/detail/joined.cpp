#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/ops/detail/joined.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

/// The layout of a part that begins at index `first` of the split axis of `target`.
Layout part_layout(const Layout& target, const Shape& part, std::int64_t first) {
  const auto extent = part[static_cast<std::size_t>(*target.split())];
  std::vector<std::int64_t> offsets;
  for (const auto offset : target.offsets()) offsets.push_back(std::clamp<std::int64_t>(offset - first, 0, extent));
  return {part, *target.split(), std::move(offsets)};
}

}  // namespace

DNDarray joined(const char* op, const Arrays& parts, int axis, const Layout& target) {
  std::vector<at::Tensor> blocks;
  std::int64_t first = 0;
  for (const auto& part : parts) {
    if (target.split() == axis) blocks.push_back(relayout(part, part_layout(target, part.shape(), first)));
    else blocks.push_back(relayout_operand(op, part, target.with(part.shape(), target.split())));
    first += part.shape()[static_cast<std::size_t>(axis)];
  }
  return wrap(at::cat(blocks, axis), target, parts.front().comm());
}

}  // namespace heatpp::detail
