#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ops/detail/ghosts.hpp>
#include <heatpp/ops/halo.hpp>

namespace heatpp {

struct Halo::Impl {
  detail::Ghosts ghosts;
  at::Tensor block;
  int axis;
  std::int64_t before;

  [[nodiscard]] at::Tensor part(std::int64_t first, std::optional<std::int64_t> count) {
    const auto& rows = ghosts.rows();
    return rows.narrow(0, first, count.value_or(rows.size(0) - first)).movedim(0, axis);
  }
};

namespace {

using detail::raise;

/// The index inside 0 .. n - 1 that stands in for `i`, or -1.
std::int64_t stand_in(std::int64_t i, std::int64_t n, Boundary boundary) {
  if (i >= 0 && i < n) return i;
  switch (boundary) {
    case Boundary::periodic: return (i + n) % n;
    case Boundary::edge: return i < 0 ? 0 : n - 1;
    case Boundary::reflect: return i < 0 ? -i : 2 * (n - 1) - i;
    default: return -1;
  }
}

void check(const HaloOptions& options, std::int64_t extent) {
  const auto behind = options.behind.value_or(options.width);
  const auto largest = std::max(options.width, behind);
  const auto limit = options.boundary == Boundary::periodic  ? extent
                     : options.boundary == Boundary::reflect ? extent - 1
                                                             : largest;
  if (options.width < 0 || behind < 0 || (largest > limit && extent > 0))
    raise<ValueError>("halo", "got width {} and {} behind for extent {}; expected 0 <= width{}", options.width, behind,
                      extent, limit < largest ? fmt::format(" <= {} with this boundary", limit) : "");
}

}  // namespace

void Halo::wait() const { static_cast<void>(impl_->ghosts.rows()); }
at::Tensor Halo::before() const { return impl_->part(0, impl_->before); }
at::Tensor Halo::behind() const { return impl_->part(impl_->before, std::nullopt); }
at::Tensor Halo::with_block() const { return at::cat({before(), impl_->block, behind()}, impl_->axis); }

Halo halo(const DNDarray& x, const HaloOptions& options) {
  const auto axis = sanitize_axis(options.axis.value_or(x.split().value_or(0)), x.ndim(), "halo");
  const auto extent = x.shape()[static_cast<std::size_t>(axis)];
  check(options, extent);
  const auto ends = [&](int rank) -> std::pair<std::int64_t, std::int64_t> {
    if (x.split() != axis) return {0, extent};
    return {x.layout().offset(rank), x.layout().offset(rank + 1)};
  };
  const auto reach = [&](std::int64_t width) {
    return options.boundary == Boundary::none ? std::min(width, extent) : width;
  };
  const auto width = reach(options.width), behind = reach(options.behind.value_or(options.width));
  const auto exists = [&](std::int64_t i) { return options.boundary != Boundary::none || (i >= 0 && i < extent); };
  const auto wanted = [&](int rank) {
    std::vector<std::int64_t> result;
    const auto [first, last] = ends(rank);
    if (first == last) return result;
    const auto add = [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i)
        if (exists(i)) result.push_back(stand_in(i, extent, options.boundary));
    };
    add(first - width, first);
    add(last, last + behind);
    return result;
  };
  const auto [first, last] = ends(x.comm().rank());
  auto before = first == last ? 0 : width;
  if (options.boundary == Boundary::none) before = std::min(before, first);
  return Halo(std::make_shared<Halo::Impl>(detail::Ghosts(x, axis, wanted, options.value), x.larray(), axis, before));
}

at::Tensor array_with_halos(const DNDarray& x, const HaloOptions& options) { return halo(x, options).with_block(); }

}  // namespace heatpp
