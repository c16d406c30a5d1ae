#include <heatpp/ops/indexing/nonzero.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/without_copies.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/indexing/detail/compress.hpp>
#include <heatpp/ops/indexing/detail/mask_on_grid.hpp>
#include <heatpp/ops/operands/detail/checked_axes.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <array>

namespace heatpp {

namespace {

/// Returns the place of each true element in C order as its position along each axis.
at::Tensor positions_of(at::Tensor places, const Shape& shape) {
  std::vector<at::Tensor> columns(shape.size());
  for (auto axis = shape.size(); axis-- > 0;) {
    columns[axis] = places.remainder(shape[axis]);
    places = places.div(shape[axis], "floor");
  }
  return at::stack(columns, 1);
}

/// Whether places of true elements and counts of segments are fewer bytes than the truths. Collective.
bool has_few(const DNDarray& truths) {
  std::array<std::int64_t, 1> count{detail::count_true(truths.larray())};
  truths.comm().allreduce(count);
  return 8 * (count[0] + detail::mask_segments(truths.layout())) < truths.size();
}

}  // namespace

DNDarray argwhere(const DNDarray& array) {
  const auto ndim = std::int64_t{array.ndim()};
  auto x = detail::without_copies(
      array.dtype() == bool_ ? array : detail::wrap(array.larray() != 0, array.layout(), array.comm()));
  if (x.layout().is_grid() && has_few(x)) {
    const detail::MaskRoutes routes(x, 0, x.larray());
    auto found = positions_of(routes.places(), x.shape()).to(x.larray().device());
    return detail::wrap(std::move(found), routes.layout().with({routes.layout().size(), ndim}, 0), x.comm());
  }
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

DNDarray flatnonzero(const DNDarray& x) {
  if (!x.layout().is_grid()) return nonzero(flatten(x)).front();
  const auto places = argwhere(x);
  auto flat = at::zeros({places.lshape()[0]}, places.larray().options());
  for (int axis = 0; axis < x.ndim(); ++axis) flat.mul_(x.shape(axis)).add_(places.larray().select(1, axis));
  return detail::wrap(std::move(flat), places.layout().with({places.shape(0)}, 0), x.comm());
}

}  // namespace heatpp
