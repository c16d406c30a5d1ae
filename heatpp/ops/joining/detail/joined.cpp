#include <heatpp/ops/joining/detail/joined.hpp>

#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/ops/joining/detail/assemble.hpp>
#include <heatpp/ops/operands/detail/axis_order.hpp>
#include <heatpp/ops/shape/detail/along.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

at::Tensor joined_along_split(const char* op, const Arrays& parts, int axis, const Layout& target) {
  Arrays sources;
  std::vector<std::int64_t> firsts;  // where each part begins in the whole
  std::int64_t first = 0;
  for (const auto& part : parts) {
    const auto extent = extent_of(part, axis);
    firsts.push_back(first);
    if (part.layout().is_grid() || (part.split() && part.split() != axis)) {
      const auto to = recut(target, axis, extent,
                            [&](std::int64_t offset) { return std::clamp<std::int64_t>(offset - first, 0, extent); });
      sources.push_back(wrap(relayout_operand(op, part, to, part.comm()), to, part.comm()));
    } else sources.push_back(part);
    first += extent;
  }
  const auto wanted = [&](int rank) {
    std::vector<Stretch> stretches;
    for (std::size_t p = 0; p < sources.size(); ++p) {
      const auto within = [&](std::int64_t offset) {
        return std::clamp<std::int64_t>(offset - firsts[p], 0, extent_of(sources[p], axis));
      };
      stretches.push_back({p, within(target.offset(rank)), within(target.offset(rank + 1))});
    }
    return stretches;
  };
  const auto takers = [&](const Stretch& some) {
    return std::vector{ranks_over(target.cut(), firsts[some.source] + some.first, firsts[some.source] + some.last)};
  };
  return assemble(sources, axis, {wanted, takers});
}

/// Joins blocks as `concatenated`, but faster if each has one element along the last axis.
at::Tensor joined_locally(const std::vector<at::Tensor>& blocks, int axis) {
  const bool single = std::ranges::all_of(blocks, [&](const auto& block) { return block.size(axis) == 1; });
  if (!single || axis + 1 < blocks.front().dim()) return concatenated(blocks, axis);
  auto shape = blocks.front().sizes().vec();
  shape.back() = std::ssize(blocks);
  auto result = at::empty(shape, blocks.front().options());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    result.select(axis, static_cast<std::int64_t>(i)).copy_(blocks[i].select(axis, 0));
  return result;
}

/// Brings each part to where the target has it, so that each rank joins its own pieces.
at::Tensor joined_on_grid(const Arrays& parts, int axis, const Layout& target) {
  std::vector<at::Tensor> blocks;
  std::int64_t first = 0;
  for (const auto& part : parts) {
    const auto extent = extent_of(part, axis);
    blocks.push_back(relayout(part, recut(target, axis, extent, [&](std::int64_t offset) {
                                return std::clamp<std::int64_t>(offset - first, 0, extent);
                              })));
    first += extent;
  }
  return joined_locally(blocks, axis);
}

}  // namespace

DNDarray joined(const char* op, const Arrays& parts, int axis, const Layout& target) {
  const auto& comm = parts.front().comm();
  for (const auto& part : parts) check_same_device(op, parts.front(), part);
  if (target.is_grid()) return wrap(joined_on_grid(parts, axis, target), target, comm);
  if (target.split() == axis) return wrap(joined_along_split(op, parts, axis, target), target, comm);
  std::vector<at::Tensor> blocks;
  for (const auto& part : parts)
    blocks.push_back(relayout_operand(op, part, target.with(part.shape(), target.split()), comm));
  return wrap(joined_locally(blocks, axis), target, comm);
}

}  // namespace heatpp::detail
