#include <heatpp/ops/shape/reshape.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>

#include <algorithm>

namespace heatpp {
namespace {

/// Replaces -1 in the shape.
Shape completed(const DNDarray& x, Shape shape) {
  std::int64_t known = 1;
  for (const auto extent : shape) known *= extent == -1 ? 1 : extent;
  const auto open = std::ranges::find(shape, -1);
  if (open != shape.end() && known > 0) *open = x.size() / known;
  const bool valid = std::ranges::all_of(shape, [](auto extent) { return extent >= 0; });
  if (!valid || size_of(shape) != x.size())
    detail::raise<ValueError>("reshape",
                              "got shape {} for an array of shape {}; expected one with {} elements and at most one -1",
                              to_string(shape), to_string(x.shape()), x.size());
  return shape;
}

/// Returns this cut for the elements in C order.
Layout flat(const Layout& layout) {
  if (!layout.split()) return layout.replicated({layout.size()});
  const auto extent = std::max<std::int64_t>(1, layout.shape().front());
  return {{layout.size()}, 0, layout.cut().scaled(layout.size() / extent)};
}

DNDarray relabelled(const DNDarray& x, Layout layout) {
  auto block = x.larray().reshape(layout.local_shape(x.comm().rank()));
  return detail::wrap(std::move(block), std::move(layout), x.comm());
}

bool keeps_axes_up_to_split(const DNDarray& x, const Shape& shape) {
  const auto kept = *x.split() + 1;
  return std::ssize(shape) >= kept && std::equal(shape.begin(), shape.begin() + kept, x.shape().begin());
}

}  // namespace

DNDarray reshape(const DNDarray& x, const Shape& wanted) {
  auto shape = completed(x, wanted);
  if (x.layout().is_grid()) return reshape(resplit(x, 0), shape);
  if (!x.split()) return relabelled(x, x.layout().replicated(std::move(shape)));
  if (keeps_axes_up_to_split(x, shape)) return relabelled(x, x.layout().with(std::move(shape), *x.split()));
  const auto rows = *x.split() == 0 ? x : resplit(x, 0);
  const auto elements = relabelled(rows, flat(rows.layout()));
  const Layout target(shape, shape.empty() ? std::nullopt : std::optional(0), x.comm().size());
  return relabelled(detail::brought_to(elements, flat(target)), target);
}

DNDarray reshape(const DNDarray& x, const Shape& shape, Order order) {
  if (order == Order::C) return reshape(x, shape);
  return transpose(reshape(transpose(x), Shape(shape.rbegin(), shape.rend())));
}

DNDarray flatten(const DNDarray& x, Order order) { return reshape(x, {-1}, order); }

}  // namespace heatpp
