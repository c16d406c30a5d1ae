#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/detail/along.hpp>
#include <heatpp/ops/detail/assemble.hpp>
#include <heatpp/ops/detail/axis_order.hpp>
#include <heatpp/ops/detail/cyclic.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

/// The indices of `block` along an axis from `first` on, and over and over, until there are `count`.
at::Tensor repeated(const at::Tensor& block, int axis, std::int64_t first, std::int64_t count) {
  std::vector<at::Tensor> parts{block.narrow(axis, 0, 0)};
  while (count > 0) {
    parts.push_back(block.narrow(axis, first, std::min(block.size(axis) - first, count)));
    count -= parts.back().size(axis);
    first = 0;
  }
  return concatenated(parts, axis);
}

/// The indices that `count` ones from `start` on mean, each once.
std::vector<Stretch> wanted(std::int64_t start, std::int64_t count, std::int64_t extent) {
  const auto first = start % extent, last = first + std::min(count, extent);
  return {{0, first, std::min(last, extent)}, {0, 0, std::max<std::int64_t>(0, last - extent)}};
}

}  // namespace

DNDarray cyclic(const DNDarray& x, int axis, std::int64_t start, const Layout& target) {
  const auto extent = extent_of(x, axis);
  const auto rank = x.comm().rank();
  const auto shape = target.local_shape(rank);
  if (extent == 0) return wrap(x.larray().new_empty(shape), target, x.comm());
  const auto count = shape[static_cast<std::size_t>(axis)];
  if (x.split() != axis) return wrap(repeated(x.larray(), axis, start % extent, count), target, x.comm());
  const auto once =
      assemble({x}, axis, [&](int r) { return wanted(start + target.offset(r), target.count(r), extent); });
  return wrap(once.size(axis) == count ? once : repeated(once, axis, 0, count), target, x.comm());
}

}  // namespace heatpp::detail
