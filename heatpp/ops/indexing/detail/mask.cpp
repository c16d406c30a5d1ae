#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/indexing/detail/compress.hpp>
#include <heatpp/ops/indexing/detail/mask.hpp>

#include <algorithm>

namespace heatpp::detail {

void check_mask(const char* op, const DNDarray& x, int axis, const DNDarray& mask) {
  const auto first = x.shape().begin() + axis;
  const bool fits =
      mask.dtype() == bool_ && mask.ndim() > 0 && std::equal(mask.shape().begin(), mask.shape().end(), first);
  if (!fits)
    raise<IndexError>(
        op,
        "got a mask of shape {} and dtype {} at axis {} of an array of shape {}; expected bool and the extents there",
        to_string(mask.shape()), name(mask.dtype()), axis, to_string(x.shape()));
  check_same_comm(op, x.comm(), mask.comm());
}

DNDarray take_mask(const char* op, const DNDarray& array, int axis, const DNDarray& mask) {
  check_mask(op, array, axis, mask);
  const auto last = axis + mask.ndim();
  auto x = array;
  if (!x.split() && mask.split()) {
    const auto cut = mask.layout().with(x.shape(), *mask.split() + axis);
    x = brought_to(x, cut);
  }
  const bool over_split = x.split() && *x.split() >= axis && *x.split() < last;
  const bool alike = over_split && same_cut(mask.layout(), x.layout().with(mask.shape(), *x.split() - axis));
  if (over_split && *x.split() != axis) x = resplit(x, axis);

  const auto mask_layout = over_split ? x.layout().with(mask.shape(), 0) : mask.layout().replicated(mask.shape());
  // In one layout both are recut, or neither.
  const auto block = alike ? relayout(mask, mask_layout) : relayout_operand(op, mask, mask_layout, x.comm());
  auto local = compressed(x.larray(), axis, block);

  auto shape = x.shape();
  shape.erase(shape.begin() + axis, shape.begin() + last);
  shape.insert(shape.begin() + axis, local.size(axis));
  if (!over_split) {
    if (!x.split()) return wrap(std::move(local), x.layout().replicated(shape), x.comm());
    const auto split = *x.split() < axis ? *x.split() : *x.split() - mask.ndim() + 1;
    return wrap(std::move(local), x.layout().with(shape, split), x.comm());
  }
  const auto counts = x.comm().allgather(local.size(axis));
  return wrap(std::move(local), Layout::from_counts(std::move(shape), axis, counts), x.comm());
}

}  // namespace heatpp::detail
