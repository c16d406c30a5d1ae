#include <heatpp/sparse/detail/spmv.hpp>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <algorithm>

namespace heatpp::sparse::detail {
namespace {

constexpr std::int64_t entries_of_a_thread = 1 << 15;

/// A block as the kernels see it.
template <class T>
struct View {
  const std::int64_t* ptr;
  const std::int32_t* column;
  const T* value;
};
template <class T>
View<T> view_of(const CsrBlock& a, const at::Tensor& columns) {
  return {a.ptr(), columns.const_data_ptr<std::int32_t>(), a.values.const_data_ptr<T>()};
}

/// Rows for each thread, by the entries that an average row has.
std::int64_t grain(const CsrBlock& a, std::int64_t k) {
  const auto entries = std::max<std::int64_t>(1, a.entries() / std::max<std::int64_t>(1, a.rows()));
  return std::max<std::int64_t>(1, entries_of_a_thread / (entries * k));
}

template <class T>
void multiply_vector(const View<T>& a, const T* x, const T* halo, std::int64_t own, T* y, std::int64_t first,
                     std::int64_t last) {
  const T* const beyond = halo - own;
  for (auto row = first; row < last; ++row) {
    T sum = 0;
    for (auto i = a.ptr[row], end = a.ptr[row + 1]; i < end; ++i) {
      const auto c = a.column[i];
      sum += a.value[i] * (c < own ? x : beyond)[c];
    }
    y[row] = sum;
  }
}

template <class T>
void multiply_own_vector(const View<T>& a, const T* x, T* y, std::int64_t first, std::int64_t last) {
  for (auto row = first; row < last; ++row) {
    T sum = 0;
    for (auto i = a.ptr[row], end = a.ptr[row + 1]; i < end; ++i) sum += a.value[i] * x[a.column[i]];
    y[row] = sum;
  }
}

/// Rows of k numbers, 16 at a time in registers.
template <class T>
void multiply_matrix(const View<T>& a, const T* x, const T* halo, std::int64_t own, std::int64_t k, T* y,
                     std::int64_t first, std::int64_t last) {
  constexpr std::int64_t width = 16;
  for (auto row = first; row < last; ++row) {
    std::int64_t j = 0;
    for (; j + width <= k; j += width) {
      T sum[width] = {};
      for (auto i = a.ptr[row], end = a.ptr[row + 1]; i < end; ++i) {
        const std::int64_t c = a.column[i];
        const T* const from = (c < own ? x + c * k : halo + (c - own) * k) + j;
        const auto value = a.value[i];
        for (std::int64_t l = 0; l < width; ++l) sum[l] += value * from[l];
      }
      std::copy(sum, sum + width, y + row * k + j);
    }
    for (; j < k; ++j) {
      T sum = 0;
      for (auto i = a.ptr[row], end = a.ptr[row + 1]; i < end; ++i) {
        const std::int64_t c = a.column[i];
        sum += a.value[i] * (c < own ? x[c * k + j] : halo[(c - own) * k + j]);
      }
      y[row * k + j] = sum;
    }
  }
}

template <class T>
void add_rows(const View<T>& a, std::int64_t rows, const T* x, std::int64_t k, std::int64_t own, T* to, T* others) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (auto i = a.ptr[row], end = a.ptr[row + 1]; i < end; ++i) {
      const std::int64_t c = a.column[i];
      T* const out = c < own ? to + c * k : others + (c - own) * k;
      for (std::int64_t l = 0; l < k; ++l) out[l] += a.value[i] * x[row * k + l];
    }
}

std::int64_t width_of(const at::Tensor& x) { return x.dim() > 1 ? x.size(1) : 1; }

}  // namespace

Dtype product_dtype(Dtype dtype) {
  if (dtype == Dtype::float16 || dtype == Dtype::bfloat16) return Dtype::float32;
  return dtype == Dtype::bool_ ? Dtype::int64 : dtype;
}

void multiply_rows(const CsrBlock& a, const at::Tensor& columns, const Operand& operand, at::Tensor& y,
                   std::int64_t first, std::int64_t last) {
  const auto k = width_of(operand.x);
  if (k == 0) return;
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX(a.values.scalar_type(), "multiply_rows", [&] {
    const auto view = view_of<scalar_t>(a, columns);
    const auto* const x = operand.x.const_data_ptr<scalar_t>();
    const auto* const halo = operand.halo.defined() ? operand.halo.const_data_ptr<scalar_t>() : nullptr;
    auto* const out = y.data_ptr<scalar_t>();
    at::parallel_for(first, last, grain(a, k), [=, own = operand.own](std::int64_t begin, std::int64_t end) {
      if (k == 1 && !halo) multiply_own_vector(view, x, out, begin, end);
      else if (k == 1) multiply_vector(view, x, halo, own, out, begin, end);
      else multiply_matrix(view, x, halo, own, k, out, begin, end);
    });
  });
}

void add_transposed(const CsrBlock& a, const at::Tensor& columns, const at::Tensor& x, at::Tensor& own,
                    at::Tensor& others) {
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX(a.values.scalar_type(), "add_transposed", [&] {
    add_rows(view_of<scalar_t>(a, columns), a.rows(), x.const_data_ptr<scalar_t>(), width_of(x), own.size(0),
             own.data_ptr<scalar_t>(), others.data_ptr<scalar_t>());
  });
}

}  // namespace heatpp::sparse::detail
