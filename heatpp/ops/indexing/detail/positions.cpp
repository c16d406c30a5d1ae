#include <heatpp/ops/indexing/detail/positions.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/indexing/detail/fetched.hpp>
#include <heatpp/ops/indexing/detail/gathered.hpp>
#include <heatpp/ops/indexing/detail/put_rows.hpp>
#include <heatpp/ops/indexing/detail/routes.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/index_list.hpp>
#include <heatpp/ops/shape/detail/basic_index.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

bool holds(const std::vector<int>& axes, int axis) { return std::ranges::find(axes, axis) != axes.end(); }

/// Returns the axes that are not indexed, rising.
std::vector<int> other_axes(const DNDarray& x, const std::vector<int>& axes) {
  std::vector<int> others;
  for (int axis = 0; axis < x.ndim(); ++axis)
    if (!holds(axes, axis)) others.push_back(axis);
  return others;
}

/// Returns the result's shape for positions of shape `taken`.
Shape shape_taken(const DNDarray& x, const Positions& positions, const Shape& taken) {
  Shape shape;
  for (const auto axis : other_axes(x, positions.axes)) shape.push_back(x.shape()[static_cast<std::size_t>(axis)]);
  shape.insert(shape.begin() + positions.place, taken.begin(), taken.end());
  return shape;
}

/// Returns where the split of an axis that is not indexed goes.
int split_taken(const DNDarray& x, const Positions& positions, int taken_axes) {
  const auto others = other_axes(x, positions.axes);
  const auto behind = static_cast<int>(std::ranges::find(others, *x.split()) - others.begin());
  return behind < positions.place ? behind : behind + taken_axes;
}

/// Returns the block with the indexed axes first.
at::Tensor indexed_first(const DNDarray& x, const std::vector<int>& axes) {
  std::vector<std::int64_t> order(axes.begin(), axes.end());
  std::ranges::copy(other_axes(x, axes), std::back_inserter(order));
  return x.larray().permute(order);
}

/// Moves `count` neighboring axes.
at::Tensor moved_axes(const at::Tensor& block, int count, int from, int to) {
  std::vector<std::int64_t> source(static_cast<std::size_t>(count)), target(source);
  std::iota(source.begin(), source.end(), from);
  std::iota(target.begin(), target.end(), to);
  return block.movedim(source, target);
}

c10::List<std::optional<at::Tensor>> list_of(std::span<const at::Tensor> blocks) {
  c10::List<std::optional<at::Tensor>> list;
  for (const auto& block : blocks) list.push_back(block);
  return list;
}

struct Broadcast {
  std::vector<at::Tensor> blocks;  ///< the positions, expanded to one shape
  Layout layout;                   ///< layout of that shape
};

Broadcast broadcast(const char* op, std::span<const DNDarray> arrays) {
  const std::vector<Operand> operands(arrays.begin(), arrays.end());
  auto [blocks, layout, comm] = align(op, operands);
  for (auto& block : blocks) block = block.expand(layout.local_shape(comm.rank()));
  return {std::move(blocks), std::move(layout)};
}

/// Brings the positions to every rank.
Broadcast everywhere(const char* op, std::vector<DNDarray> arrays) {
  for (auto& array : arrays) {
    const auto layout = array.layout().replicated(array.shape());
    array = wrap(relayout_operand(op, array, layout, arrays.front().comm()), layout, array.comm());
  }
  return broadcast(op, arrays);
}

/// Returns the cut that spreads positions over the ranks in C order.
Layout spread(const Layout& layout) {
  const auto& shape = layout.shape();
  const auto longer = std::ranges::find_if(shape, [](auto extent) { return extent != 1; });
  const auto axis = longer == shape.end() ? 0 : static_cast<int>(longer - shape.begin());
  return {shape, axis, layout.ranks()};
}

std::vector<at::Tensor> cut_blocks(const Broadcast& all, const Layout& cut, int rank) {
  std::vector<at::Tensor> blocks;
  for (const auto& block : all.blocks) blocks.push_back(block.narrow(*cut.split(), cut.offset(rank), cut.count(rank)));
  return blocks;
}

/// Positions that index the split axis, and what each rank has to send to which rank.
struct Plan {
  Layout cut;  ///< of the positions
  Requests requests;
};

Plan plan(const DNDarray& x, const Positions& positions, const Broadcast& asked) {
  if (asked.layout.split()) return {asked.layout, requests(x, positions.axes, asked.blocks, asked.layout, {})};
  const auto cut = spread(asked.layout);
  return {cut, requests(x, positions.axes, cut_blocks(asked, cut, x.comm().rank()), cut, asked.blocks)};
}

Shape with_rows(Shape rows, at::IntArrayRef row) {
  rows.insert(rows.end(), row.begin(), row.end());
  return rows;
}

at::Tensor rows_at(const at::Tensor& held, const std::vector<at::Tensor>& positions) {
  if (positions.size() == 1) return gathered(held, positions.front());
  return at::index(held, list_of(positions));
}

/// Returns a block with the indexed axes first, and the indices of the keys' rows in it: the keys themselves if they
/// count its rows in memory order.
std::pair<at::Tensor, std::vector<at::Tensor>> rows_for(const DNDarray& x, const Positions& positions,
                                                        const at::Tensor& keys) {
  const auto held = indexed_first(x, positions.axes);
  if (positions.axes.front() == x.split() && held.is_contiguous())
    return {held.flatten(0, std::ssize(positions.axes) - 1), {keys}};
  return {held, positions_of_keys(x, positions.axes, keys)};
}

/// Whether each rank has positions along the split alone, and enough of them that numbers for each rank cost less.
bool are_many_along_split(const DNDarray& x, const Positions& positions, const Layout& asked) {
  return asked.split() && positions.axes.size() == 1 && asked.size() >= x.comm().size();
}

/// Returns the rows at this rank's part of the positions, and the cut of these.
std::pair<at::Tensor, Layout> rows_and_cut(const DNDarray& x, const Positions& positions, const Broadcast& asked) {
  if (are_many_along_split(x, positions, asked.layout))
    return {fetched(indexed_first(x, positions.axes), asked.blocks.front(), x.layout().cut(), x.comm()), asked.layout};
  const auto [cut, wanted] = plan(x, positions, asked);
  const auto [held, places] = rows_for(x, positions, wanted.keys);
  return {wanted.route.back(rows_at(held, places).cpu()), cut};
}

DNDarray take_across(const DNDarray& x, const Positions& positions, const Broadcast& asked) {
  auto [block, cut] = rows_and_cut(x, positions, asked);
  const auto row = block.sizes().slice(1);
  block = block.reshape(with_rows(cut.local_shape(x.comm().rank()), row)).to(x.larray().device());
  auto layout = cut.with(shape_taken(x, positions, cut.shape()), *cut.split() + positions.place);
  return wrap(moved_axes(block, cut.ndim(), 0, positions.place), std::move(layout), x.comm());
}

/// Whether no position has axes: it is one position for all ranks.
bool is_single(const Positions& positions) {
  return std::ranges::all_of(positions.arrays, [](const auto& array) { return array.ndim() == 0; });
}

void give_axis(std::vector<DNDarray>& arrays) {
  for (auto& array : arrays) array = wrap(array.larray().reshape({1}), array.layout().replicated({1}), array.comm());
}

Layout layout_taken(const DNDarray& x, const Positions& positions, const Layout& asked) {
  auto shape = shape_taken(x, positions, asked.shape());
  if (x.split()) return x.layout().with(std::move(shape), split_taken(x, positions, asked.ndim()));
  return asked.with(std::move(shape), asked.split() ? std::optional(*asked.split() + positions.place) : std::nullopt);
}

DNDarray take_here(const DNDarray& x, const Positions& positions, const Broadcast& asked) {
  // In place, LibTorch must write the axes in their final order, because later moves would not reach `x`.
  const bool in_place = positions.axes.size() == 1 && positions.axes.front() == positions.place;
  at::Tensor block;
  if (in_place) {
    block = at::index(x.larray(), index_list(positions.place, asked.blocks.front()));
  } else {
    block = at::index(indexed_first(x, positions.axes), list_of(asked.blocks));
    block = moved_axes(block, asked.layout.ndim(), 0, positions.place);
  }
  return wrap(std::move(block), layout_taken(x, positions, asked.layout), x.comm());
}

/// Returns this rank's part of the values, with the axes of the positions first.
at::Tensor rows_of(const char* op, const Operand& value, const Layout& layout, const Positions& positions, int axes,
                   const DNDarray& x) {
  const auto block = apart_from(x.larray(), align_to(op, layout, x.comm(), value).to(x.larray().options()));
  if (!value.array()) return block;
  return moved_axes(block.expand(layout.local_shape(x.comm().rank())), axes, positions.place, 0);
}

void put_across(const char* op, const DNDarray& x, const Positions& positions, const Broadcast& asked,
                const Operand& value) {
  const auto [cut, wanted] = plan(x, positions, asked);
  const auto layout = cut.with(shape_taken(x, positions, cut.shape()), *cut.split() + positions.place);
  auto rows = rows_of(op, value, layout, positions, cut.ndim(), x);
  auto [held, places] = rows_for(x, positions, wanted.keys);
  if (value.array()) {
    const auto row = held.sizes().slice(places.size());
    rows = wanted.route.there(rows.reshape(with_rows({wanted.route.slots.numel()}, row)).cpu()).to(held.device());
  }
  put_rows(held, places, rows);
}

void put_here(const char* op, const DNDarray& x, const Positions& positions, const Broadcast& asked,
              const Operand& value) {
  const auto layout = layout_taken(x, positions, asked.layout);
  const auto rows = rows_of(op, value, layout, positions, asked.layout.ndim(), x);
  auto held = indexed_first(x, positions.axes);
  auto places = asked.blocks;
  for (auto& block : places) block = apart_from(held, block);
  put_rows(held, places, rows);
}

/// Returns the positions in the order of writing, which lines keep for any cut.
Broadcast in_order(const char* op, bool in_lines, std::vector<DNDarray>& arrays) {
  auto asked = broadcast(op, arrays);
  const auto& layout = asked.layout;
  if (in_lines || !layout.split() || layout.split() == spread(layout).split()) return asked;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto whole = wrap(asked.blocks[i], layout, arrays[i].comm());
    arrays[i] = wrap(relayout_operand(op, whole, spread(layout), whole.comm()), spread(layout), whole.comm());
  }
  return broadcast(op, arrays);
}

/// Does take_positions for positions in range.
DNDarray take_known(const char* op, const DNDarray& x, Positions positions) {
  const bool across = x.split() && holds(positions.axes, *x.split());
  if (!across)
    return take_here(x, positions, x.split() ? everywhere(op, positions.arrays) : broadcast(op, positions.arrays));
  if (!is_single(positions)) return take_across(x, positions, broadcast(op, positions.arrays));
  // One row for all ranks: its owner sends a copy to all.
  give_axis(positions.arrays);
  const auto row = take_across(x, positions, broadcast(op, positions.arrays));
  const auto layout = row.layout().replicated(row.shape());
  auto block = relayout(row, layout).squeeze(positions.place);
  auto shape = row.shape();
  shape.erase(shape.begin() + positions.place);
  return wrap(std::move(block), layout.replicated(std::move(shape)), x.comm());
}

/// Whether the axes are neighbors and each array runs along its own axis, in order, as those of ix_.
bool is_mesh(const Positions& positions) {
  const auto count = std::ssize(positions.axes);
  if (count < 2 || positions.axes.front() != positions.place || positions.axes.back() - positions.place + 1 != count)
    return false;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const auto& array = positions.arrays[static_cast<std::size_t>(i)];
    if (array.ndim() != (i == 0 ? count : array.ndim())) return false;
    const auto own = array.ndim() - count + i;
    if (own < 0 || array.size() == 0 || array.shape()[static_cast<std::size_t>(own)] != array.size()) return false;
  }
  return true;
}

/// Takes axis after axis, the split one last, when there is less to move.
DNDarray take_mesh(const char* op, const DNDarray& x, const Positions& positions) {
  auto result = x;
  for (const bool over_split : {false, true})
    for (std::size_t i = 0; i < positions.axes.size(); ++i)
      if (const auto axis = positions.axes[i]; (axis == x.split()) == over_split)
        result = take_known(op, result, {{axis}, {reshape(positions.arrays[i], {-1})}, axis});
  return result;
}

}  // namespace

DNDarray take_positions(const char* op, const DNDarray& array, Positions positions) {
  sanitize_positions(op, array, positions);
  const auto x = one_cut(op, array);
  return is_mesh(positions) ? take_mesh(op, x, positions) : take_known(op, x, std::move(positions));
}

void put_positions(const char* op, const DNDarray& x, Positions positions, const Operand& value) {
  check_value(op, value, x.dtype());
  if (x.layout().is_grid()) {
    const auto recut = one_cut(op, x);
    put_positions(op, recut, std::move(positions), value);
    x.larray().copy_(relayout(recut, x.layout()));
    return;
  }
  sanitize_positions(op, x, positions);
  if (!(x.split() && holds(positions.axes, *x.split()))) {
    const auto asked = everywhere(op, positions.arrays);
    return put_here(op, x, positions, asked, value);
  }
  auto fitting = value;
  if (is_single(positions)) {
    give_axis(positions.arrays);
    const auto behind = x.ndim() - static_cast<int>(positions.axes.size()) - positions.place;
    if (const auto* array = value.array(); array && array->ndim() > behind)
      fitting = insert_axis(*array, array->ndim() - behind);
  }
  put_across(op, x, positions, in_order(op, positions.in_lines, positions.arrays), fitting);
}

}  // namespace heatpp::detail
