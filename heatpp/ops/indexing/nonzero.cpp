#include <heatpp/ops/indexing/nonzero.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/indexing/detail/compress.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/reshape.hpp>

namespace heatpp {

DNDarray argwhere(const DNDarray& array) {
  const auto ndim = std::int64_t{array.ndim()};
  auto x = array.dtype() == bool_ ? array : detail::wrap(array.larray() != 0, array.layout(), array.comm());
  if (x.layout().is_grid() || x.split().value_or(0) != 0) x = resplit(x, 0);
  auto found = detail::places_of(x.larray());
  if (!x.split()) {
    const auto layout = x.layout().replicated({found.size(0), ndim});
    return detail::wrap(std::move(found), layout, x.comm());
  }
  if (found.size(0) > 0) found.select(1, 0).add_(x.layout().offset(x.comm().rank()));
  const auto counts = x.comm().allgather(found.size(0));
  return detail::wrap(std::move(found), Layout::from_counts({0, ndim}, 0, counts), x.comm());
}

std::vector<DNDarray> nonzero(const DNDarray& x) {
  detail::check_ndim("nonzero", x, 1);
  const auto places = argwhere(x);
  std::vector<DNDarray> columns;
  const Shape shape{places.shape().front()};
  for (int axis = 0; axis < x.ndim(); ++axis)
    columns.push_back(
        detail::wrap(places.larray().select(1, axis), places.layout().with(shape, places.split()), x.comm()));
  return columns;
}

DNDarray flatnonzero(const DNDarray& x) { return nonzero(flatten(x)).front(); }

}  // namespace heatpp
