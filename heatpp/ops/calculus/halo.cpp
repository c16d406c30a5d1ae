#include <heatpp/ops/calculus/halo.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/ops/calculus/detail/ghosts.hpp>
#include <heatpp/ops/calculus/detail/halo_reach.hpp>

#include <limits>

namespace heatpp {

struct Halo::Impl {
  detail::Ghosts ghosts;
  at::Tensor block;
  int axis;
  detail::Reach fetched, wanted;

  /// Returns the `count` rows from `first` on, or `more`: the first row again before them if `shift`, else the last.
  [[nodiscard]] at::Tensor part(std::int64_t first, std::int64_t count, std::int64_t more, bool shift) {
    const auto& rows = ghosts.rows();
    const auto part = rows.narrow(0, first, count).movedim(0, axis);
    if (more == count) return part;
    auto shape = part.sizes().vec();
    shape[static_cast<std::size_t>(axis)] = more;
    return detail::block_or_error("halo", shape, [&] {
      const auto places = at::arange(more, rows.options().dtype(at::kLong)).sub_(shift ? more - count : 0);
      return part.index_select(axis, places.clamp(0, count - 1));
    });
  }
};

namespace {

using detail::formatted;
using detail::raise;

void check(const DNDarray& x, const HaloOptions& options, std::int64_t extent) {
  const auto behind = options.behind.value_or(options.width);
  const auto largest = std::max(options.width, behind);
  const auto limit = options.boundary == Boundary::periodic  ? extent
                     : options.boundary == Boundary::reflect ? extent - 1
                     : options.boundary == Boundary::none    ? largest
                                                             : (std::numeric_limits<std::int64_t>::max() - extent) / 2;
  if (options.width < 0 || behind < 0 || (largest > limit && extent > 0))
    raise<ValueError>("halo", "got width {} and {} behind for extent {}; expected 0 <= width{}", options.width, behind,
                      extent, limit < largest ? formatted(" <= {} with this boundary", limit) : "");
  if (options.boundary != Boundary::constant) return;
  detail::check_real("halo", options.value.default_dtype(), x.dtype());
  detail::check_in_range("halo", options.value, x.dtype());
}

/// Returns the first axis that is cut, or 0.
int first_cut(const Layout& layout) {
  if (!layout.is_grid()) return layout.split().value_or(0);
  for (int axis = 0; axis < layout.ndim(); ++axis)
    if (layout.cut_along(axis).ranks() > 1) return axis;
  return 0;
}

}  // namespace

void Halo::wait() const { static_cast<void>(impl_->ghosts.rows()); }
at::Tensor Halo::before() const { return impl_->part(0, impl_->fetched.before, impl_->wanted.before, true); }
at::Tensor Halo::behind() const {
  return impl_->part(impl_->fetched.before, impl_->fetched.behind, impl_->wanted.behind, false);
}
at::Tensor Halo::with_block() const {
  const auto& block = impl_->block;
  return detail::block_or_error("halo", block.sizes().vec(), [&] {
    return at::cat({before(), block, behind()}, impl_->axis);
  });
}

Halo halo(const DNDarray& x, const HaloOptions& options) {
  const auto axis = sanitize_axis(options.axis.value_or(first_cut(x.layout())), x.ndim(), "halo");
  const auto extent = x.shape()[static_cast<std::size_t>(axis)];
  check(x, options, extent);
  const auto cut = x.layout().cut_along(axis);
  const auto me = x.layout().place_along(axis, x.comm().rank());
  const auto rows = [&](int place) { return detail::halo_rows(cut, place, options); };
  return Halo(std::make_shared<Halo::Impl>(
      detail::Ghosts(x, axis, rows, detail::halo_takers(cut, me, options), options.value), x.larray(), axis,
      detail::fetched_reach(cut, me, options), detail::wanted_reach(cut, me, options)));
}

at::Tensor array_with_halos(const DNDarray& x, const HaloOptions& options) {
  const auto ghosts = halo(x, options);
  ghosts.wait();
  at::Tensor result;
  const auto work = [&] { result = ghosts.with_block(); };
  // Only if widths exceed the array can ranks that have a block need much more memory than others.
  if (std::max(options.width, options.behind.value_or(0)) > x.size()) all_or_none(x.comm(), work);
  else work();
  return result;
}

}  // namespace heatpp
