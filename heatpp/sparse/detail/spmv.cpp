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

/// Where a vector's elements, or rows of k, lie: columns below `own` in x, the others in the halo. Without a branch,
/// which would be foretold wrongly as often as not.
template <class T>
class Places {
 public:
  Places(const T* x, const T* halo, std::int64_t own, std::int64_t k = 1)
      : x_(reinterpret_cast<const char*>(x)),
        own_(halo ? own : std::numeric_limits<std::int32_t>::max()),
        size_(k * std::int64_t{sizeof(T)}),
        shift_(reinterpret_cast<const char*>(halo) - x_ - own * size_) {}
  [[nodiscard]] const T* operator[](std::int32_t column) const {
    const auto beyond = -static_cast<std::int64_t>(column >= own_);
    return reinterpret_cast<const T*>(x_ + column * size_ + (shift_ & beyond));
  }

 private:
  const char* x_;
  std::int64_t own_, size_, shift_;
};

void fetch(const void* memory) { __builtin_prefetch(memory); }

/// How far before their use memory is asked for: entries are read one after the other, but too fast for processors to
/// guess how far, and what they name lies anywhere.
constexpr std::int64_t bytes_ahead = 4096, elements_ahead = 96, rows_ahead = 12;

/// The first row that has not so many entries behind it.
template <class T>
std::int64_t last_with_ahead(const View<T>& a, std::int64_t first, std::int64_t last, std::int64_t ahead) {
  const auto* const ends = a.ptr + 1;
  return std::partition_point(ends + first, ends + last, [&](auto end) { return end + ahead <= a.ptr[last]; }) - ends;
}

template <class T>
void fetch_entries(const View<T>& a, std::int64_t begin, std::int64_t end) {
  const auto* const values = reinterpret_cast<const char*>(a.value + begin) + bytes_ahead;
  for (std::int64_t at = 0; at < (end - begin) * std::int64_t{sizeof(T)}; at += 64) fetch(values + at);
  const auto* const columns = reinterpret_cast<const char*>(a.column + begin) + bytes_ahead;
  for (std::int64_t at = 0; at < (end - begin) * 4; at += 64) fetch(columns + at);
}

template <bool ahead, class T>
void multiply_vector(const View<T>& a, const Places<T>& x, T* y, std::int64_t first, std::int64_t last) {
  for (auto row = first; row < last; ++row) {
    const auto begin = a.ptr[row], end = a.ptr[row + 1];
    if (ahead) fetch_entries(a, begin, end);
    T sum = 0;
    for (auto i = begin; i < end; ++i) {
      if (ahead) fetch(x[a.column[i + elements_ahead]]);
      sum += a.value[i] * *x[a.column[i]];
    }
    y[row] = sum;
  }
}

template <class T>
void fetch_row(const T* row, std::int64_t k) {
  for (std::int64_t at = 0; at < k * std::int64_t{sizeof(T)}; at += 64) fetch(reinterpret_cast<const char*>(row) + at);
}

/// Rows of k numbers, 16 at a time in registers.
template <bool ahead, class T>
void multiply_matrix(const View<T>& a, const Places<T>& x, std::int64_t k, T* y, std::int64_t first,
                     std::int64_t last) {
  constexpr std::int64_t width = 16;
  for (auto row = first; row < last; ++row) {
    const auto begin = a.ptr[row], end = a.ptr[row + 1];
    if (ahead)
      for (auto i = begin; i < end; ++i) fetch_row(x[a.column[i + rows_ahead]], k);
    std::int64_t j = 0;
    for (; j + width <= k; j += width) {
      T sum[width] = {};
      for (auto i = begin; i < end; ++i) {
        const T* const from = x[a.column[i]] + j;
        const auto value = a.value[i];
        for (std::int64_t l = 0; l < width; ++l) sum[l] += value * from[l];
      }
      std::copy(sum, sum + width, y + row * k + j);
    }
    for (; j < k; ++j) {
      T sum = 0;
      for (auto i = begin; i < end; ++i) sum += a.value[i] * x[a.column[i]][j];
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
    const Places<scalar_t> places(x, halo, operand.own, k);
    at::parallel_for(first, last, grain(a, k), [=](std::int64_t begin, std::int64_t end) {
      const auto until = last_with_ahead(view, begin, end, k == 1 ? elements_ahead : rows_ahead);
      if (k == 1) {
        multiply_vector<true>(view, places, out, begin, until);
        multiply_vector<false>(view, places, out, until, end);
      } else {
        multiply_matrix<true>(view, places, k, out, begin, until);
        multiply_matrix<false>(view, places, k, out, until, end);
      }
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
