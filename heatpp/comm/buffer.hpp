#pragma once

#include <heatpp/comm/dtype.hpp>
#include <ranges>

namespace heatpp {

/// Where elements lie: in the host's memory, or on the CUDA device of that number. There a collective begins after the
/// work that was in `stream`, a cudaStream_t, when it was called; once it has ended its result is ready for any stream.
struct Memory {
  int device = -1;
  void* stream = nullptr;
  [[nodiscard]] bool on_device() const { return device >= 0; }
};

/// A contiguous run of elements in memory that a collective reads and writes. Made from any contiguous range that
/// stays: what a temporary vector was given would be lost, or written to after its end.
struct Buffer {
  void* data;
  std::int64_t count;
  Dtype dtype;
  Memory memory = {};

  Buffer(void* data_, std::int64_t count_, Dtype dtype_, Memory memory_ = {})
      : data(data_), count(count_), dtype(dtype_), memory(memory_) {}
  template <std::ranges::contiguous_range R>
  requires(Element<std::ranges::range_value_t<R>>&& std::ranges::borrowed_range<R>)
      Buffer(R&& range)  // NOLINT: conversion intended
      : data(std::ranges::data(range)),
        count(std::ranges::ssize(range)),
        dtype(dtype_of<std::ranges::range_value_t<R>>()) {}

  [[nodiscard]] std::int64_t bytes() const { return count * static_cast<std::int64_t>(itemsize(dtype)); }
};

/// A range whose elements end with it: no memory for what goes on after the call.
template <class R>
concept Temporary = std::ranges::contiguous_range<R> && !std::ranges::borrowed_range<R>;

/// The same for memory that is only read.
struct ConstBuffer {
  const void* data;
  std::int64_t count;
  Dtype dtype;
  Memory memory = {};

  ConstBuffer(const void* data_, std::int64_t count_, Dtype dtype_, Memory memory_ = {})
      : data(data_), count(count_), dtype(dtype_), memory(memory_) {}
  ConstBuffer(const Buffer& b) : ConstBuffer(b.data, b.count, b.dtype, b.memory) {}  // NOLINT: conversion intended
  template <std::ranges::contiguous_range R>
  requires Element<std::ranges::range_value_t<R>> ConstBuffer(const R& range)  // NOLINT: conversion intended
      : data(std::ranges::data(range)),
        count(std::ranges::ssize(range)),
        dtype(dtype_of<std::ranges::range_value_t<R>>()) {}

  [[nodiscard]] std::int64_t bytes() const { return count * static_cast<std::int64_t>(itemsize(dtype)); }
};

/// A region of memory made of `runs` equally long runs of bytes at a constant stride: what one rank's part of a
/// C-ordered array looks like when it is cut along one axis.
template <class Byte>
struct BasicBlock {
  Byte* data = nullptr;
  std::int64_t runs = 0;
  std::int64_t run_bytes = 0;
  std::int64_t stride_bytes = 0;

  [[nodiscard]] std::int64_t bytes() const { return runs * run_bytes; }
  [[nodiscard]] bool contiguous() const { return runs <= 1 || run_bytes == stride_bytes; }
};
using Block = BasicBlock<std::byte>;
using ConstBlock = BasicBlock<const std::byte>;

}  // namespace heatpp
