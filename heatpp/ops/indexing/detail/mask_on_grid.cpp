#include <heatpp/ops/indexing/detail/mask_on_grid.hpp>

#include <ATen/ATen.h>

#include <heatpp/core/blocks/detail/parts.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/cuts/group_along.hpp>
#include <heatpp/ops/indexing/detail/compress.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace heatpp::detail {
namespace {

bool masks_all(const DNDarray& x, const at::Tensor& flags) { return flags.dim() == x.ndim(); }

Communicator group_of_mask(const DNDarray& x, int axis, const at::Tensor& flags) {
  if (masks_all(x, flags)) return x.comm();
  std::vector<std::int64_t> axes(static_cast<std::size_t>(flags.dim()));
  std::iota(axes.begin(), axes.end(), std::int64_t{axis});
  return group_along(x, axes);
}

/// Returns the layout of the masked axes over the group.
Layout layout_of_masked(const DNDarray& x, int axis, const at::Tensor& flags) {
  if (masks_all(x, flags)) return x.layout();
  std::vector<Cut> cuts;
  Shape shape;
  for (int i = axis; i < axis + flags.dim(); ++i) {
    cuts.push_back(x.layout().cut_along(i));
    shape.push_back(x.shape(i));
  }
  return Layout::from_cuts(std::move(shape), std::move(cuts));
}

Layout layout_of_rows(const Layout& grid) {
  const bool stays = !grid.is_grid() && grid.split() == 0;
  return stays ? grid : Layout(grid.shape(), 0, grid.ranks());
}

int last_cut_axis(const Layout& layout) {
  int last = 0;
  for (int axis = 0; axis < layout.ndim(); ++axis)
    if (layout.cut_along(axis).ranks() > 1) last = axis;
  return last;
}

/// Returns the number of each rank's block in C order of the blocks.
std::vector<int> cells_of(const Layout& layout) {
  std::vector<int> cells;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    int cell = 0;
    for (int axis = 0; axis < layout.ndim(); ++axis)
      cell = cell * layout.cut_along(axis).ranks() + layout.place_along(axis, rank);
    cells.push_back(cell);
  }
  return cells;
}

/// Returns the layout with one axis, of these counts, instead of `masked` ones. That keeps the C order of the blocks.
Layout layout_left(const DNDarray& x, int axis, int masked, const std::vector<std::int64_t>& counts) {
  if (masked == x.ndim()) return Layout::from_counts({0}, 0, counts);
  std::vector<std::int64_t> offsets(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  auto shape = x.shape();
  shape.erase(shape.begin() + axis, shape.begin() + axis + masked);
  shape.insert(shape.begin() + axis, offsets.back());
  std::vector<Cut> cuts;
  for (int i = 0; i < x.ndim(); ++i) {
    if (i == axis) cuts.push_back(Cut::at(std::move(offsets)));
    if (i < axis || i >= axis + masked) cuts.push_back(x.layout().cut_along(i));
  }
  return Layout::from_cuts(std::move(shape), std::move(cuts), cells_of(x.layout()));
}

/// Returns the axes from `axis` on as the first ones.
at::Tensor with_first(const at::Tensor& block, int axis, std::int64_t count) {
  std::vector<std::int64_t> from(static_cast<std::size_t>(count)), to(from.size());
  std::iota(from.begin(), from.end(), std::int64_t{axis});
  std::iota(to.begin(), to.end(), std::int64_t{0});
  return block.movedim(from, to);
}

/// Calls f(rank, box) for each rank whose block under `layout` has elements in common with the box.
void for_each_common(const Layout& layout, const Box& box, const std::function<void(int, const Box&)>& f) {
  for_each_owner(layout, box, [&](int rank) {
    if (const auto both = common(box, box_of(layout, rank)); !both.empty()) f(rank, both);
  });
}

/// Calls f(place among all, place in the packed ones, bytes) for each segment, whose elements have `bytes` bytes.
template <class F>
void each_segment(const at::Tensor& counts, const at::Tensor& firsts, std::int64_t bytes, const F& f) {
  const auto many = counts.contiguous(), to = firsts.contiguous();
  const auto *count = many.const_data_ptr<std::int64_t>(), *first = to.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0, packed = 0; i < many.numel(); packed += count[i++] * bytes)
    f(first[i] * bytes, packed, static_cast<std::size_t>(count[i] * bytes));
}

std::byte* bytes_of(const at::Tensor& tensor) { return static_cast<std::byte*>(tensor.data_ptr()); }

std::int64_t row_bytes(const at::Tensor& rows) {
  return rows.element_size() * c10::multiply_integers(rows.sizes().slice(1));
}

/// Makes room for rows like those of `like`.
at::Tensor rows_like(const at::Tensor& like, std::int64_t count) {
  auto shape = like.sizes().vec();
  shape[0] = count;
  return at::empty(shape, like.options());
}

}  // namespace

std::int64_t mask_segments(const Layout& grid) {
  const auto last = last_cut_axis(grid);
  return size_of({grid.shape().begin(), grid.shape().begin() + last}) * grid.cut_along(last).ranks();
}

MaskRoutes::MaskRoutes(const DNDarray& x, int axis, const at::Tensor& flags)
    : axis_(axis),
      flags_(flags.cpu()),
      comm_(x.comm()),
      group_(group_of_mask(x, axis, flags)),
      grid_(layout_of_masked(x, axis, flags)),
      rows_(layout_of_rows(grid_)),
      mine_(box_of(grid_, group_.rank())),
      here_(box_of(rows_, group_.rank())),
      last_(last_cut_axis(grid_)),
      layout_(x.layout()) {
  count();
  layout_ = layout_left(x, axis, static_cast<int>(flags.dim()), group_.allgather(total_));
}

/// Counts the kept elements of each segment.
void MaskRoutes::count() {
  Shape extents(here_.count.begin(), here_.count.begin() + last_);
  extents.push_back(grid_.cut_along(last_).ranks());
  counts_ = at::zeros(extents, at::kLong);
  Parts out, in;
  each_taker([&](int taker, const Box& box) { out.push_back({taker, {wanted_in(box).flatten(last_).sum(-1)}}); });
  each_holder([&](int holder, const Box& box) { in.push_back({holder, {part_of(counts_, box, holder)}}); });
  exchange_parts(out, in, group_);
  firsts_ = (counts_.flatten().cumsum(0) - counts_.flatten()).view(counts_.sizes());
  total_ = counts_.sum().item<std::int64_t>();
}

at::Tensor MaskRoutes::wanted_in(const Box& box) const { return part_in_box(flags_, mine_.first, box).contiguous(); }

/// Returns the part of a table of segments for what `holder` has of the box.
at::Tensor MaskRoutes::part_of(const at::Tensor& table, const Box& box, int holder) const {
  auto part = table.select(last_, grid_.place_along(last_, holder));
  for (int axis = 0; axis < last_; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    part = part.narrow(axis, box.first[i] - here_.first[i], box.count[i]);
  }
  return part;
}

void MaskRoutes::each_taker(const std::function<void(int rank, const Box& box)>& f) const {
  for_each_common(rows_, mine_, f);
}
void MaskRoutes::each_holder(const std::function<void(int rank, const Box& box)>& f) const {
  for_each_common(grid_, here_, f);
}

at::Tensor MaskRoutes::brought(const Keep& keep, const at::Tensor& like) const {
  Parts out, in;
  each_taker([&](int taker, const Box& box) {
    if (auto kept = keep(box, wanted_in(box)).contiguous(); kept.numel() > 0) out.push_back({taker, {std::move(kept)}});
  });
  const auto result = allocated("index", layout_, like.options(), comm_, [&] { return rows_like(like, total_); });
  each_holder([&](int holder, const Box& box) {
    auto room = rows_like(like, part_of(counts_, box, holder).sum().item<std::int64_t>());
    if (room.numel() > 0) in.push_back({holder, {std::move(room)}});
  });
  exchange_parts(out, in, group_);
  auto arrived = in.begin();
  each_holder([&](int holder, const Box& box) {
    if (arrived == in.end() || arrived->rank != holder) return;
    const auto* from = bytes_of((arrived++)->tensors[0]);
    each_segment(part_of(counts_, box, holder), part_of(firsts_, box, holder), row_bytes(result),
                 [&](auto place, auto packed, auto n) { std::memcpy(bytes_of(result) + place, from + packed, n); });
  });
  return result;
}

at::Tensor MaskRoutes::taken(const at::Tensor& block) const {
  const auto first = with_first(block.cpu().resolve_conj().resolve_neg(), axis_, flags_.dim());
  auto none = first.sizes().slice(static_cast<std::size_t>(flags_.dim())).vec();
  none.insert(none.begin(), 0);
  const auto result = brought(
      [&](const Box& box, const at::Tensor& wanted) {
        return compressed(part_in_box(first, mine_.first, box).contiguous(), 0, wanted);
      },
      at::empty(none, first.options()));
  return result.movedim(0, axis_).to(block.device());
}

at::Tensor MaskRoutes::places() const {
  const auto strides = at::ones({flags_.dim()}, at::kLong);
  for (auto axis = flags_.dim() - 1; axis-- > 0;)
    strides[axis].copy_(strides[axis + 1] * grid_.shape()[static_cast<std::size_t>(axis) + 1]);
  return brought(
      [&](const Box& box, const at::Tensor& wanted) {
        return ((places_of(wanted) + at::tensor(box.first, at::kLong)) * strides).sum(1);
      },
      at::empty({0}, at::kLong));
}

void MaskRoutes::put(const at::Tensor& block, const at::Tensor& elements) const {
  const auto local = block.cpu(), first = with_first(local, axis_, flags_.dim());
  const auto rows = elements.cpu().resolve_conj().resolve_neg().movedim(axis_, 0).contiguous();
  Parts out, in;
  each_holder([&](int holder, const Box& box) {
    const auto counts = part_of(counts_, box, holder);
    auto packed = rows_like(rows, counts.sum().item<std::int64_t>());
    each_segment(counts, part_of(firsts_, box, holder), row_bytes(rows),
                 [&](auto place, auto to, auto n) { std::memcpy(bytes_of(packed) + to, bytes_of(rows) + place, n); });
    if (packed.numel() > 0) out.push_back({holder, {std::move(packed)}});
  });
  each_taker([&](int taker, const Box& box) {
    auto room = rows_like(rows, count_true(wanted_in(box)));
    if (room.numel() > 0) in.push_back({taker, {std::move(room)}});
  });
  exchange_parts(out, in, group_);
  auto arrived = in.begin();
  each_taker([&](int taker, const Box& box) {
    if (arrived == in.end() || arrived->rank != taker) return;
    write_compressed(part_in_box(first, mine_.first, box), 0, wanted_in(box), (arrived++)->tensors[0]);
  });
  if (!block.is_cpu()) block.copy_(local);
}

}  // namespace heatpp::detail
