#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/detail/axes.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {

DNDarray permuted(const DNDarray& x, const std::vector<int>& order) {
  Shape shape;
  for (const auto axis : order) shape.push_back(x.shape()[static_cast<std::size_t>(axis)]);
  std::optional<int> split;
  if (x.split()) split = static_cast<int>(std::ranges::find(order, *x.split()) - order.begin());
  return wrap(x.larray().permute(std::vector<std::int64_t>(order.begin(), order.end())),
              x.layout().with(std::move(shape), split), x.comm());
}

DNDarray moved_axis(const DNDarray& x, int from, int to) {
  std::vector<int> order(static_cast<std::size_t>(x.ndim()));
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return permuted(x, order);
}

DNDarray without_axis(const char* op, const DNDarray& x, int axis) {
  auto shape = x.shape();
  shape.erase(shape.begin() + axis);
  if (x.split() == axis) {
    const auto all = relayout_operand(op, x, x.layout().replicated(x.shape()));
    return wrap(all.squeeze(axis), x.layout().replicated(std::move(shape)), x.comm());
  }
  const auto split = x.split() && *x.split() > axis ? std::optional(*x.split() - 1) : x.split();
  return wrap(x.larray().squeeze(axis), x.layout().with(std::move(shape), split), x.comm());
}

DNDarray diagonal_of(const DNDarray& x, std::int64_t offset, int axis1, int axis2) {
  const auto extent = [&](int axis) { return x.shape()[static_cast<std::size_t>(axis)]; };
  const auto first1 = std::max<std::int64_t>(-offset, 0), first2 = std::max<std::int64_t>(offset, 0);
  const auto length = std::max<std::int64_t>(0, std::min(extent(axis1) - first1, extent(axis2) - first2));
  auto shape = x.shape();
  shape.erase(shape.begin() + std::max(axis1, axis2));
  shape.erase(shape.begin() + std::min(axis1, axis2));
  shape.push_back(length);

  if (x.split() != axis1 && x.split() != axis2) {
    auto split = x.split();
    if (split) split = *split - (*split > axis1) - (*split > axis2);
    return wrap(x.larray().diagonal(offset, axis1, axis2), x.layout().with(std::move(shape), split), x.comm());
  }
  const bool along_first = x.split() == axis1;
  const auto mine = x.layout().offset(x.comm().rank()), first = along_first ? first1 : first2;
  std::vector<std::int64_t> offsets(x.layout().offsets().begin(), x.layout().offsets().end());
  for (auto& o : offsets) o = std::clamp<std::int64_t>(o - first, 0, length);
  const auto block = x.larray().diagonal(along_first ? offset + mine : offset - mine, axis1, axis2);
  const auto axis = static_cast<int>(shape.size()) - 1;
  return wrap(block, Layout(std::move(shape), axis, std::move(offsets)), x.comm());
}

DNDarray conjugated(const DNDarray& x) {
  if (!is_complex(x.dtype())) return x;
  return wrap(x.larray().conj().resolve_conj(), x.layout(), x.comm());
}

}  // namespace heatpp::detail
