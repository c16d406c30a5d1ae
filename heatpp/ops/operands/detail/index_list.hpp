#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

namespace heatpp::detail {

/// Returns LibTorch's index of a block by `positions`, or a mask, from `axis` on; all of the axes before.
[[nodiscard]] inline c10::List<std::optional<at::Tensor>> index_list(std::int64_t axis, const at::Tensor& positions) {
  c10::List<std::optional<at::Tensor>> list;
  for (std::int64_t i = 0; i < axis; ++i) list.push_back(std::nullopt);
  list.push_back(positions);
  return list;
}

}  // namespace heatpp::detail
