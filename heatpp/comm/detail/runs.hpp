#pragma once

#include <algorithm>
#include <cstring>
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

/// Copies bytes [first, first + length) of the block to consecutive memory, and back.
inline void pack(const ConstBlock& block, std::int64_t first, std::int64_t length, std::byte* out) {
  for_each_run(block, first, length, [&](const std::byte* in, std::int64_t n) {
    std::memcpy(out, in, static_cast<std::size_t>(n));
    out += n;
  });
}
inline void unpack(const std::byte* in, const Block& block, std::int64_t first, std::int64_t length) {
  for_each_run(block, first, length, [&](std::byte* out, std::int64_t n) {
    std::memcpy(out, in, static_cast<std::size_t>(n));
    in += n;
  });
}

/// Copies all of a block to one of the same size.
inline void copy_block(const ConstBlock& from, const Block& to) {
  std::int64_t first = 0;
  for_each_run(from, 0, from.bytes(), [&](const std::byte* in, std::int64_t n) {
    unpack(in, to, first, n);
    first += n;
  });
}

}  // namespace heatpp::detail
