#pragma once

#include <heatpp/core/detail/torch.hpp>

namespace heatpp::detail {

/// Returns `count` indices from `first` on along `axis` of a contiguous tensor, as runs of memory.
template <class Byte>
BasicBlock<Byte> axis_block(const at::Tensor& tensor, int axis, std::int64_t first, std::int64_t count) {
  std::int64_t outer = 1, inner = tensor.element_size();
  for (int i = 0; i < axis; ++i) outer *= tensor.size(i);
  for (auto i = axis + 1; i < tensor.dim(); ++i) inner *= tensor.size(i);
  if (count <= 0) return {};
  return {static_cast<Byte*>(tensor.data_ptr()) + first * inner, outer, count * inner, tensor.size(axis) * inner};
}

}  // namespace heatpp::detail
