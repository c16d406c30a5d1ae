#pragma once

#include <algorithm>
#include <heatpp/comm/buffer.hpp>

namespace heatpp::detail {

/// Calls f(address, length) for the runs that hold bytes [first, first + length) of the block, in order.
template <class Byte, class F>
void for_each_run(const BasicBlock<Byte>& block, std::int64_t first, std::int64_t length, F f) {
  if (length <= 0) return;
  auto run = first / block.run_bytes;
  auto inside = first % block.run_bytes;
  while (length > 0) {
    const auto n = std::min(length, block.run_bytes - inside);
    f(block.data + run * block.stride_bytes + inside, n);
    length -= n;
    ++run;
    inside = 0;
  }
}

}  // namespace heatpp::detail
