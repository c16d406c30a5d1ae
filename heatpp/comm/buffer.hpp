#pragma once

#include <heatpp/comm/dtype.hpp>
#include <ranges>

namespace heatpp {

/// A contiguous run of elements in memory that a collective reads and writes. Made from any contiguous range.
struct Buffer {
  void* data;
  std::int64_t count;
  Dtype dtype;

  Buffer(void* data_, std::int64_t count_, Dtype dtype_) : data(data_), count(count_), dtype(dtype_) {}
  template <std::ranges::contiguous_range R>
  requires Element<std::ranges::range_value_t<R>> Buffer(R&& range)  // NOLINT: conversion intended
      : data(std::ranges::data(range)),
        count(std::ranges::ssize(range)),
        dtype(dtype_of<std::ranges::range_value_t<R>>()) {}

  [[nodiscard]] std::int64_t bytes() const { return count * static_cast<std::int64_t>(itemsize(dtype)); }
};

/// The same for memory that is only read.
struct ConstBuffer {
  const void* data;
  std::int64_t count;
  Dtype dtype;

  ConstBuffer(const void* data_, std::int64_t count_, Dtype dtype_) : data(data_), count(count_), dtype(dtype_) {}
  ConstBuffer(const Buffer& b) : data(b.data), count(b.count), dtype(b.dtype) {}  // NOLINT: conversion intended
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
