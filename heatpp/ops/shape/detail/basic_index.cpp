#include <heatpp/ops/shape/detail/basic_index.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

/// Returns the layout without `axis`; later axes move forward.
Layout without_axis(const Layout& layout, int axis) {
  auto shape = layout.shape();
  shape.erase(shape.begin() + axis);
  if (!layout.split()) return layout.replicated(std::move(shape));
  return layout.with(std::move(shape), *layout.split() - (*layout.split() > axis));
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
  if (x.split() != axis) return wrap(x.larray().select(axis, position), without_axis(x.layout(), axis), x.comm());

  auto shape = x.shape();
  shape.erase(shape.begin() + axis);
  const int owner = x.layout().owner(position);
  auto slice =
      owner == x.comm().rank()
          ? x.larray().select(axis, position - x.layout().offset(owner)).cpu().clone(at::MemoryFormat::Contiguous)
          : at::empty(shape, x.larray().options().device(at::kCPU));
  x.comm().broadcast(buffer_of(slice), owner);
  return wrap(slice.to(x.larray().device()), x.layout().replicated(shape), x.comm());
}

DNDarray take_rising(const DNDarray& x, int axis, const ResolvedSlice& range) {
  auto shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = range.count;
  const auto stop = range.start + range.count * range.step;
  if (x.split() != axis) {
    auto local = x.larray().slice(axis, range.start, stop, range.step);
    return wrap(std::move(local), x.layout().with(shape, x.split()), x.comm());
  }
  if (range.step == 1 && range.count == x.shape()[static_cast<std::size_t>(axis)])
    return wrap(x.larray().slice(axis, 0, x.larray().size(axis)), x.layout(), x.comm());
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(x.layout().ranks()) + 1);  // indices before each block
  for (int rank = 0; rank <= x.layout().ranks(); ++rank)
    offsets[static_cast<std::size_t>(rank)] =
        std::clamp<std::int64_t>((x.layout().offset(rank) - range.start + range.step - 1) / range.step, 0, range.count);
  const auto me = static_cast<std::size_t>(x.comm().rank());
  const auto first = range.start + offsets[me] * range.step - x.layout().offset(x.comm().rank());
  const auto count = offsets[me + 1] - offsets[me];
  auto local = count > 0 ? x.larray().slice(axis, first, first + (count - 1) * range.step + 1, range.step)
                         : x.larray().narrow(axis, 0, 0);
  return wrap(std::move(local), Layout(shape, axis, std::move(offsets)), x.comm());
}

DNDarray reversed(const DNDarray& x, int axis) {
  const auto local = x.larray().flip(axis);
  if (x.split() != axis) return wrap(local, x.layout(), x.comm());
  const int ranks = x.comm().size();
  std::vector<std::int64_t> counts;
  for (int r = ranks - 1; r >= 0; --r) counts.push_back(x.layout().count(r));
  const auto target = Layout::from_counts(x.shape(), axis, counts);
  const auto source = local.cpu().contiguous();
  auto result = at::empty(target.local_shape(x.comm().rank()), source.options());
  std::vector<ConstBlock> send(static_cast<std::size_t>(ranks));
  std::vector<Block> receive(static_cast<std::size_t>(ranks));
  const auto partner = static_cast<std::size_t>(ranks - 1 - x.comm().rank());
  const auto bytes_out = static_cast<std::int64_t>(source.nbytes()),
             bytes_in = static_cast<std::int64_t>(result.nbytes());
  send[partner] = {static_cast<const std::byte*>(source.data_ptr()), 1, bytes_out, bytes_out};
  receive[partner] = {static_cast<std::byte*>(result.data_ptr()), 1, bytes_in, bytes_in};
  x.comm().exchange(send, receive);
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
  const auto split = x.split() ? std::optional(*x.split() + (*x.split() >= axis)) : std::nullopt;
  return wrap(x.larray().unsqueeze(axis), x.layout().with(std::move(shape), split), x.comm());
}

}  // namespace heatpp::detail
