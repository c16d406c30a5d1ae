#include <heatpp/ops/joining/detail/cyclic.hpp>

#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/ops/joining/detail/assemble.hpp>
#include <heatpp/ops/operands/detail/axis_order.hpp>
#include <heatpp/ops/shape/detail/along.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

/// Fills `result` with the indices of `block` along an axis from `first` on, repeatedly. Filled elements are copied
/// behind themselves, so the number of copies is logarithmic.
void fill(const at::Tensor& result, const at::Tensor& block, std::int64_t axis, std::int64_t first) {
  std::int64_t filled = 0;
  const auto append = [&](const at::Tensor& part) {
    const auto count = std::min(part.size(axis), result.size(axis) - filled);
    result.narrow(axis, filled, count).copy_(part.narrow(axis, 0, count));
    filled += count;
  };
  append(block.narrow(axis, first, block.size(axis) - first));
  append(block.narrow(axis, 0, first));
  while (filled < result.size(axis)) append(result.narrow(axis, 0, filled));
}

/// Makes a block of that shape, in the memory order of `block`, filled with it.
at::Tensor repeated(const at::Tensor& block, int axis, std::int64_t first, const Shape& shape) {
  const auto order = AxisOrder::in_memory(block);
  std::vector<std::int64_t> extents;
  for (const auto each : order.axes()) extents.push_back(shape[static_cast<std::size_t>(each)]);
  const auto result = at::empty(extents, block.options());
  fill(result, order.permuted(block), order.place_of(axis), first);
  return order.restored(result);
}

/// Returns the indices for `count` positions from `start` on, each once.
std::vector<Stretch> wanted(std::int64_t start, std::int64_t count, std::int64_t extent) {
  const auto first = start % extent, last = first + std::min(count, extent);
  return {{0, first, std::min(last, extent)}, {0, 0, std::max<std::int64_t>(0, last - extent)}};
}

/// Returns the ranks of a target that begins at position `start` whose positions meet some of the indices.
std::vector<RankRange> takers_of(const Cut& target, std::int64_t start, const Stretch& some, std::int64_t extent) {
  if (target.extent() / extent >= target.ranks()) return {{0, target.ranks()}};
  std::vector<RankRange> takers;
  const auto before = start % extent;
  for (auto shift = -before; shift < target.extent(); shift += extent)
    takers.push_back(ranks_over(target, some.first + shift, some.last + shift));
  return takers;
}

}  // namespace

DNDarray cyclic(const char* op, const DNDarray& x, int axis, std::int64_t start, const Layout& target) {
  const auto extent = extent_of(x, axis);
  const auto shape = target.local_shape(x.comm().rank());
  if (extent == 0) return wrap(x.larray().new_empty(shape), target, x.comm());
  auto block = x.larray();
  auto first = start % extent;
  if (x.split() == axis) {
    block = assemble({x}, axis,
                     {[&](int r) { return wanted(start + target.offset(r), target.count(r), extent); },
                      [&](const Stretch& some) { return takers_of(target.cut(), start, some, extent); }});
    first = 0;
  }
  const bool whole = x.split() == axis && block.sizes() == at::IntArrayRef(shape);
  const auto make = [&] { return whole ? block : repeated(block, axis, first, shape); };
  const bool grows = target.size() > x.size();
  return wrap(grows ? allocated(op, target, block.options(), x.comm(), make) : make(), target, x.comm());
}

}  // namespace heatpp::detail
