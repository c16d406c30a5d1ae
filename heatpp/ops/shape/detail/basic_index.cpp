#include <heatpp/ops/shape/detail/basic_index.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/group_along.hpp>
#include <heatpp/core/detail/cuts/stretched.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

/// Returns the layout without `axis`; later axes move forward.
Layout without_axis(const Layout& layout, int axis) {
  auto shape = layout.shape();
  shape.erase(shape.begin() + axis);
  std::vector<int> axes;
  for (int other = 0; other < layout.ndim(); ++other)
    if (other != axis) axes.push_back(other);
  return layout.along(std::move(shape), axes);
}

}  // namespace

std::int64_t sanitize_position(const char* op, const DNDarray& x, int axis, std::int64_t position) {
  const auto extent = x.shape()[static_cast<std::size_t>(axis)];
  if (position < -extent || position >= extent)
    raise<IndexError>(op, "got position {} along axis {} of an array of shape {}; expected {} <= position < {}",
                      position, axis, to_string(x.shape()), -extent, extent);
  return position < 0 ? position + extent : position;
}

DNDarray take_position(const char* op, const DNDarray& x, int axis, std::int64_t position) {
  position = sanitize_position(op, x, axis, position);
  auto layout = without_axis(x.layout(), axis);
  if (!cuts_along(x.layout(), axis)) return wrap(x.larray().select(axis, position), std::move(layout), x.comm());
  const auto cut = x.layout().cut_along(axis);
  const auto group = group_along(x, axis);
  const int owner = cut.owner(position);
  auto slice = owner == group.rank()
                   ? x.larray().select(axis, position - cut.first(owner)).cpu().clone(at::MemoryFormat::Contiguous)
                   : at::empty(layout.local_shape(x.comm().rank()), x.larray().options().device(at::kCPU));
  group.broadcast(buffer_of(slice), owner);
  return wrap(slice.to(x.larray().device()), std::move(layout), x.comm());
}

DNDarray take_rising(const DNDarray& x, int axis, const ResolvedSlice& range) {
  const auto stop = range.start + range.count * range.step;
  const auto cut = x.layout().cut_along(axis);
  if (cut.ranks() == 1) {
    auto local = x.larray().slice(axis, range.start, stop, range.step);
    return wrap(std::move(local), with_cut(x.layout(), axis, Cut::even(range.count, 1)), x.comm());
  }
  if (range.step == 1 && range.count == x.shape()[static_cast<std::size_t>(axis)])
    return wrap(x.larray().slice(axis, 0, x.larray().size(axis)), x.layout(), x.comm());
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(cut.ranks()) + 1);  // indices before each block
  for (int rank = 0; rank <= cut.ranks(); ++rank)
    offsets[static_cast<std::size_t>(rank)] =
        std::clamp<std::int64_t>((cut.first(rank) - range.start + range.step - 1) / range.step, 0, range.count);
  const int place = x.layout().place_along(axis, x.comm().rank());
  const auto me = static_cast<std::size_t>(place);
  const auto first = range.start + offsets[me] * range.step - cut.first(place);
  const auto count = offsets[me + 1] - offsets[me];
  auto local = count > 0 ? x.larray().slice(axis, first, first + (count - 1) * range.step + 1, range.step)
                         : x.larray().narrow(axis, 0, 0);
  return wrap(std::move(local), with_cut(x.layout(), axis, Cut::at(std::move(offsets))), x.comm());
}

DNDarray reversed(const DNDarray& x, int axis) {
  const auto local = x.larray().flip(axis);
  if (!cuts_along(x.layout(), axis)) return wrap(local, x.layout(), x.comm());
  const auto cut = x.layout().cut_along(axis);
  const int ranks = cut.ranks();
  const auto group = group_along(x, axis);
  std::vector<std::int64_t> offsets;
  for (int r = ranks; r >= 0; --r) offsets.push_back(cut.extent() - cut.first(r));
  const auto target = with_cut(x.layout(), axis, Cut::at(std::move(offsets)));
  const auto source = local.cpu().contiguous();
  auto result = at::empty(target.local_shape(x.comm().rank()), source.options());
  std::vector<ConstBlock> send(static_cast<std::size_t>(ranks));
  std::vector<Block> receive(static_cast<std::size_t>(ranks));
  const auto partner = static_cast<std::size_t>(ranks - 1 - group.rank());
  const auto bytes_out = static_cast<std::int64_t>(source.nbytes()),
             bytes_in = static_cast<std::int64_t>(result.nbytes());
  send[partner] = {static_cast<const std::byte*>(source.data_ptr()), 1, bytes_out, bytes_out};
  receive[partner] = {static_cast<std::byte*>(result.data_ptr()), 1, bytes_in, bytes_in};
  group.exchange(send, receive);
  return wrap(result.to(x.larray().device()), target, x.comm());
}

DNDarray take_slice(const char* op, const DNDarray& x, int axis, const Slice& slice) {
  const auto range = resolve(slice, x.shape()[static_cast<std::size_t>(axis)], op);
  if (range.step > 0) return take_rising(x, axis, range);
  const ResolvedSlice rising{range.start + (range.count - 1) * range.step, range.count, -range.step};
  return reversed(take_rising(x, axis, range.count ? rising : ResolvedSlice{}), axis);
}

DNDarray insert_axis(const DNDarray& x, int axis) {
  auto shape = x.shape();
  shape.insert(shape.begin() + axis, 1);
  std::vector<int> axes;
  for (int place = 0; place <= x.ndim(); ++place) axes.push_back(place == axis ? -1 : place - (place > axis));
  return wrap(x.larray().unsqueeze(axis), x.layout().along(std::move(shape), axes), x.comm());
}

}  // namespace heatpp::detail
