#include <heatpp/ops/indexing/detail/mask_on_grid.hpp>

#include <heatpp/core/blocks/detail/parts.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/cuts/boxes.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/indexing/detail/compress.hpp>

#include <algorithm>
#include <cstring>

namespace heatpp::detail {
namespace {

/// Elements of a block that follow one another in C order of the array are a segment. Blocks with the same indices of
/// the axes before the last cut one have their segments in the order of the places along that axis.
struct Segments {
  const Layout& grid;
  Layout rows;   ///< the cut of the result: rank r gets what is kept of its rows
  int last = 0;  ///< the last axis that is cut
  Box here;      ///< this rank's rows

  explicit Segments(const DNDarray& x) : grid(x.layout()), rows(x.shape(), 0, x.comm().size()) {
    for (int axis = 0; axis < grid.ndim(); ++axis)
      if (grid.cut_along(axis).ranks() > 1) last = axis;
    here = box_of(rows, x.comm().rank());
  }

  /// Makes the table of how many elements each segment keeps in this rank's rows.
  [[nodiscard]] at::Tensor table() const {
    Shape shape(here.count.begin(), here.count.begin() + last);
    shape.push_back(grid.cut_along(last).ranks());
    return at::zeros(shape, at::kLong);
  }
  /// Returns the part of the table for what `giver` holds of the box.
  [[nodiscard]] at::Tensor part_of(const at::Tensor& table, const Box& box, int giver) const {
    auto part = table.select(last, grid.place_along(last, giver));
    for (int axis = 0; axis < last; ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      part = part.narrow(axis, box.first[i] - here.first[i], box.count[i]);
    }
    return part;
  }
};

/// Calls f(rank, box) for each rank whose block under `layout` has elements in common with the box.
void for_each_common(const Layout& layout, const Box& box, const std::function<void(int, const Box&)>& f) {
  for_each_owner(layout, box, [&](int rank) {
    if (const auto both = common(box, box_of(layout, rank)); !both.empty()) f(rank, both);
  });
}

/// Writes what arrived from one rank, segment after segment, to the places of its segments.
void place_segments(const at::Tensor& arrived, const at::Tensor& counts, const at::Tensor& firsts,
                    const at::Tensor& result) {
  const auto many = counts.contiguous(), to = firsts.contiguous();
  const auto bytes = result.element_size();
  const auto* in = static_cast<const std::byte*>(arrived.const_data_ptr());
  auto* const out = static_cast<std::byte*>(result.mutable_data_ptr());
  const auto *count = many.const_data_ptr<std::int64_t>(), *first = to.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < many.numel(); ++i) {
    const auto run = count[i] * bytes;
    std::memcpy(out + first[i] * bytes, in, static_cast<std::size_t>(run));
    in += run;
  }
}

}  // namespace

DNDarray take_mask_on_grid(const DNDarray& x, const at::Tensor& given) {
  const auto& comm = x.comm();
  const Segments segments(x);
  const auto mine = box_of(x.layout(), comm.rank());
  const auto block = x.larray().cpu().resolve_conj(), flags = given.cpu();
  const auto table = segments.table();
  Parts counts_out, counts_in, out, in;
  for_each_common(segments.rows, mine, [&](int taker, const Box& box) {
    const auto wanted = part_in_box(flags, mine.first, box).contiguous();
    counts_out.push_back({taker, {wanted.flatten(segments.last).sum(-1)}});
    auto kept = compressed(part_in_box(block, mine.first, box).contiguous(), 0, wanted);
    if (kept.numel() > 0) out.push_back({taker, {std::move(kept)}});
  });
  for_each_common(x.layout(), segments.here, [&](int giver, const Box& box) {
    counts_in.push_back({giver, {segments.part_of(table, box, giver)}});
  });
  exchange_parts(counts_out, counts_in, comm);

  const auto total = table.sum().item<std::int64_t>();
  const auto layout = Layout::from_counts({0}, 0, comm.allgather(total));
  const auto result =
      allocated("index", layout, block.options(), comm, [&] { return at::empty({total}, block.options()); });
  for (const auto& [giver, counts] : counts_in)
    if (const auto count = counts[0].sum().item<std::int64_t>(); count > 0)
      in.push_back({giver, {at::empty({count}, block.options())}});
  exchange_parts(out, in, comm);

  const auto firsts = (table.flatten().cumsum(0) - table.flatten()).view(table.sizes());
  auto arrived = in.begin();
  for_each_common(x.layout(), segments.here, [&](int giver, const Box& box) {
    if (arrived == in.end() || arrived->rank != giver) return;
    place_segments((arrived++)->tensors[0], segments.part_of(table, box, giver), segments.part_of(firsts, box, giver),
                   result);
  });
  return wrap(result.to(x.larray().device()), layout, comm);
}

}  // namespace heatpp::detail
