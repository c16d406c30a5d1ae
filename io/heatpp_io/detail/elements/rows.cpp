#include <heatpp_io/detail/elements/rows.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/communicator.hpp>
#include <heatpp/core/detail/cuts/without_copies.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp_io/detail/elements/windows.hpp>
#include <heatpp_io/detail/files/first_error.hpp>

#include <algorithm>

namespace heatpp::io::detail {

Blocks blocks_of(const DNDarray& x) {
  if (x.layout().is_grid()) return blocks_of(resplit(x, 0));
  const auto local = x.larray().to(at::kCPU).contiguous();
  if (x.split()) return {x.layout(), local};
  const auto rows = x.ndim() == 0 ? local.view({1}) : local;
  Layout share({rows.sizes().begin(), rows.sizes().end()}, 0, x.comm().size());
  const auto rank = x.comm().rank();
  auto mine = rows.narrow(0, share.offset(rank), share.count(rank));
  return {std::move(share), std::move(mine)};
}

Blocks boxes_of(const DNDarray& given) {
  const auto x = heatpp::detail::without_copies(given);
  if (!x.layout().is_grid()) return blocks_of(x);
  return {x.layout(), x.larray().to(at::kCPU).contiguous()};
}

namespace {

/// Returns the closest offsets at which chunks begin or the axis ends.
std::vector<std::int64_t> offsets_between(std::vector<std::int64_t> offsets, std::int64_t chunk, std::int64_t first) {
  const auto extent = offsets.back();
  for (auto& offset : offsets) offset = std::min(extent, (first + offset + chunk - 1) / chunk * chunk - first);
  offsets.front() = 0;
  return offsets;
}

}  // namespace

Layout between_chunks(const Layout& layout, std::int64_t chunk, std::int64_t first) {
  return {layout.shape(), *layout.split(), offsets_between(layout.offsets(), chunk, first)};
}

Layout between_chunks(const Layout& grid, const Shape& chunks) {
  std::vector<heatpp::detail::Cut> cuts;
  for (int axis = 0; axis < grid.ndim(); ++axis)
    cuts.push_back(heatpp::detail::Cut::at(
        offsets_between(grid.cut_along(axis).offsets(), chunks[static_cast<std::size_t>(axis)], 0)));
  return grid.recut(grid.shape(), std::move(cuts));
}

void each_rows(const Layout& layout, const at::Tensor& block, const Communicator& comm, const WriteRows& write,
               std::int64_t unit) {
  if (layout.split() == 0) return all_or_none(comm, [&] { write(layout.offset(comm.rank()), block); });
  const auto bytes = block.element_size();
  const auto budget = staging_budget(layout.size() / layout.ranks() * bytes);
  const Windows windows(layout, bytes, {0, {unit, 0}, budget});
  at::Tensor staging;
  all_or_none(comm, [&] { staging = at::empty({windows.part_size()}, block.options()); });
  FirstError error;
  for (std::int64_t window = 0; window < windows.count(); ++window) {
    const auto mine = windows.part(window, comm.rank());
    const auto shape = windows.shape(mine);
    const auto part = staging.narrow(0, 0, size_of(shape)).view(shape);
    gather_window(windows, window, block, part, layout, comm);
    error.run([&] { write(mine.first, part); });
  }
  all_or_none(comm, [&] { error.rethrow(); });
}

namespace {

/// Returns the layout of the array seen as (rows, extent of the split axis, elements after it).
Layout folded(const Layout& layout) {
  const auto split = layout.shape().begin() + *layout.split();
  return layout.with({size_of({layout.shape().begin(), split}), *split, size_of({split + 1, layout.shape().end()})}, 1);
}

}  // namespace

bool has_long_runs(const Layout& layout, std::int64_t itemsize) {
  constexpr std::int64_t long_run = std::int64_t{1} << 20;
  const auto fold = folded(layout);
  const auto run = fold.shape()[1] / layout.ranks() * fold.shape()[2] * itemsize;
  return fold.shape()[0] == 1 || run >= long_run;
}

void each_run(const Layout& layout, const at::Tensor& block, const Communicator& comm, const WriteRun& write) {
  const auto fold = folded(layout);
  const auto of_row = fold.shape()[1] * fold.shape()[2];
  const auto rows = block.view(fold.local_shape(comm.rank()));
  if (!has_long_runs(layout, block.element_size()))
    return each_rows(fold, rows, comm,
                     [&](std::int64_t first, const at::Tensor& some) { write(first * of_row, some.view({-1})); });
  const auto begin = fold.offset(comm.rank()) * fold.shape()[2];
  all_or_none(comm, [&] {
    for (std::int64_t row = 0; row < rows.size(0) && rows.numel() > 0; ++row)
      write(row * of_row + begin, rows.select(0, row).view({-1}));
  });
}

}  // namespace heatpp::io::detail
