#pragma once

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>

#include <algorithm>
#include <heatpp/ops/elementwise/detail/map_plan.hpp>

/// Loops over blocks in runs of elements that fit in the first-level cache.
namespace heatpp::detail::runs {

inline constexpr auto run_size = map_piece_size;

/// Calls f(first, count) for runs that make up n elements, on all threads.
template <class F>
void in_runs(std::int64_t n, F f) {
  in_parallel(n, [&](std::int64_t begin, std::int64_t end) {
    for (auto first = begin; first < end; first += run_size) f(first, std::min(run_size, end - first));
  });
}

/// Whether runs of the block can be read: it is in the order of the result, or a number.
[[nodiscard]] inline bool is_simple(const at::Tensor& block, at::IntArrayRef shape) {
  return block.is_cpu() && !block.is_conj() && !block.is_neg() &&
         (block.numel() == 1 || (block.sizes() == shape && block.is_contiguous()));
}

/// Returns the block so that its runs can be read.
[[nodiscard]] inline at::Tensor simple(const at::Tensor& block, at::IntArrayRef shape) {
  if (is_simple(block, shape)) return block;
  return block.cpu().resolve_conj().resolve_neg().expand(shape).contiguous();
}

/// Reads the elements of a simple block; a number gives a run of copies.
template <class T>
class Reader {
 public:
  Reader(const at::Tensor& block, std::int64_t n)
      : data_(static_cast<const T*>(block.const_data_ptr())), is_number_(block.numel() != n) {
    if (is_number_) std::fill_n(copies_, run_size, *data_);
  }
  [[nodiscard]] const T* from(std::int64_t first) const { return is_number_ ? copies_ : data_ + first; }

 private:
  const T* data_;
  bool is_number_;
  T copies_[run_size];
};

/// Makes a block; kernel(in, out, count) computes each run.
template <class T, class Result, class Kernel>
[[nodiscard]] at::Tensor map_runs(const at::Tensor& block, Kernel kernel) {
  const auto x = block.cpu().resolve_conj().resolve_neg().contiguous();
  auto out = at::empty(x.sizes(), x.options().dtype(c10::CppTypeToScalarType<Result>::value));
  const auto* const in = x.const_data_ptr<T>();
  auto* const result = out.template mutable_data_ptr<Result>();
  in_runs(out.numel(), [&](std::int64_t first, std::int64_t count) { kernel(in + first, result + first, count); });
  return out.to(block.device());
}

/// Makes a block; kernel(in, in, out, count) computes runs of two blocks of T, which broadcast.
template <class T, class Result, class Kernel>
[[nodiscard]] at::Tensor combine_runs(const at::Tensor& a, const at::Tensor& b, Kernel kernel) {
  const auto shape = at::infer_size(a.sizes(), b.sizes());
  const auto left = simple(a, shape), right = simple(b, shape);
  auto out = at::empty(shape, left.options().dtype(c10::CppTypeToScalarType<Result>::value));
  const Reader<T> x(left, out.numel()), y(right, out.numel());
  auto* const result = out.template mutable_data_ptr<Result>();
  in_runs(out.numel(),
          [&](std::int64_t first, std::int64_t count) { kernel(x.from(first), y.from(first), result + first, count); });
  return out.to(a.dim() >= b.dim() ? a.device() : b.device());
}

/// Makes a block of f(x, y) for every pair of elements.
template <class T, class F>
[[nodiscard]] at::Tensor map_pairs(const at::Tensor& a, const at::Tensor& b, F f) {
  return combine_runs<T, T>(
      a, b, [f](const T* x, const T* y, T* out, std::int64_t n) { std::transform(x, x + n, y, out, f); });
}

}  // namespace heatpp::detail::runs
