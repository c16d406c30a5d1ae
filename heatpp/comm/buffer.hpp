#pragma once

#include <heatpp/comm/dtype.hpp>
#include <ranges>

namespace heatpp {

/// Where elements lie: in the host's memory, or on the CUDA device with that number. A collective on a device begins
/// after the work in `stream`, a cudaStream_t, at the time of the call. After its end any stream may use the result.
struct Memory {
  int device = -1;
  void* stream = nullptr;
  [[nodiscard]] bool on_device() const { return device >= 0; }
};

/// A contiguous run of elements in memory that a collective reads and writes. Any contiguous range that outlives the
/// call gives one. A temporary range does not, because its memory would be gone before the result is read.
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

/// A range whose elements end with it. It cannot serve a call that goes on after it has returned.
template <class R>
concept Temporary = std::ranges::contiguous_range<R> && !std::ranges::borrowed_range<R>;

/// A contiguous run of elements that a collective only reads.
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

/// A region of memory that consists of `runs` equally long runs of bytes at a constant stride. The part of a C-ordered
/// array that belongs to one rank looks like this if the array is cut along one axis.
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
