#include <heatpp_io/detail/elements/windows.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/communicator.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

/// Returns the positions `part` along `axis` of a contiguous tensor, as runs of memory.
template <class Byte>
BasicBlock<Byte> runs_of(const at::Tensor& tensor, int axis, const Windows::Part& part) {
  std::int64_t outer = 1, inner = tensor.element_size();
  for (int i = 0; i < axis; ++i) outer *= tensor.size(i);
  for (auto i = axis + 1; i < tensor.dim(); ++i) inner *= tensor.size(i);
  if (part.count <= 0 || outer * inner == 0) return {};
  return {static_cast<Byte*>(tensor.data_ptr()) + part.first * inner, outer, part.count * inner,
          tensor.size(axis) * inner};
}

/// Returns for each rank its share of this rank's part, and this rank's share of its part.
template <class Mine, class Theirs>
std::pair<std::vector<BasicBlock<Mine>>, std::vector<BasicBlock<Theirs>>> shares(const Windows& windows,
                                                                                 std::int64_t window,
                                                                                 const at::Tensor& part,
                                                                                 const at::Tensor& block,
                                                                                 const Layout& layout) {
  std::pair<std::vector<BasicBlock<Mine>>, std::vector<BasicBlock<Theirs>>> result;
  for (int r = 0; r < layout.ranks(); ++r) {
    result.first.push_back(runs_of<Mine>(part, *layout.split(), {layout.offset(r), layout.count(r)}));
    result.second.push_back(runs_of<Theirs>(block, windows.axis(), windows.part(window, r)));
  }
  return result;
}

}  // namespace

Windows::Windows(const Layout& layout, std::int64_t itemsize, const Options& options)
    : shape_(layout.shape()), axis_(options.axis), ranks_(layout.ranks()), cuts_(options.cuts) {
  const auto extent = shape_[static_cast<std::size_t>(axis_)];
  if (layout.size() == 0) return;
  const auto unit_bytes = layout.size() / extent * cuts_.unit * itemsize;
  const auto units = (extent + cuts_.phase + cuts_.unit - 1) / cuts_.unit;
  const auto share = (units + ranks_ - 1) / ranks_;  // a larger share would leave the last ranks without work
  units_per_part_ = std::clamp<std::int64_t>(options.part_bytes / unit_bytes, 1, share);
  windows_ = (units + units_per_part_ * ranks_ - 1) / (units_per_part_ * ranks_);
}

std::int64_t Windows::unit_begin(std::int64_t unit) const {
  return std::clamp<std::int64_t>(unit * cuts_.unit - cuts_.phase, 0, shape_[static_cast<std::size_t>(axis_)]);
}

Windows::Part Windows::part(std::int64_t window, int rank) const {
  const auto unit = (window * ranks_ + rank) * units_per_part_;
  const auto first = unit_begin(unit);
  return {first, unit_begin(unit + units_per_part_) - first};
}

Shape Windows::shape(const Part& part) const {
  auto shape = shape_;
  shape[static_cast<std::size_t>(axis_)] = part.count;
  return shape;
}

std::int64_t Windows::part_size() const {
  if (windows_ == 0) return 0;
  const auto extent = shape_[static_cast<std::size_t>(axis_)];
  return size_of(shape_) / extent * std::min(extent, units_per_part_ * cuts_.unit);
}

void scatter_window(const Windows& windows, std::int64_t window, const at::Tensor& part, const at::Tensor& block,
                    const Layout& layout, const Communicator& comm) {
  const auto [send, receive] = shares<const std::byte, std::byte>(windows, window, part, block, layout);
  comm.exchange(send, receive);
}

void gather_window(const Windows& windows, std::int64_t window, const at::Tensor& block, const at::Tensor& part,
                   const Layout& layout, const Communicator& comm) {
  const auto [receive, send] = shares<std::byte, const std::byte>(windows, window, part, block, layout);
  comm.exchange(send, receive);
}

std::int64_t staging_budget(std::int64_t block_bytes) {
  return std::clamp(block_bytes / 8, std::int64_t{1} << 20, std::int64_t{16} << 20);
}

}  // namespace heatpp::io::detail
