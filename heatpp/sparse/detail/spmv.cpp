#include <heatpp/sparse/detail/spmv.hpp>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <algorithm>

namespace heatpp::sparse::detail {
namespace {

constexpr std::int64_t entries_of_a_thread = 1 << 15;

/// A block in the form that kernels read.
template <class T>
struct View {
  const std::int64_t* ptr;
  const std::int32_t* column;
  const T* value;
  std::int64_t entries;
};
template <class T>
View<T> view_of(const CsrBlock& a, const at::Tensor& columns) {
  return {a.ptr(), columns.const_data_ptr<std::int32_t>(), a.values.const_data_ptr<T>(), a.entries()};
}

/// Returns rows for each thread, by the entries of an average row.
std::int64_t grain(const CsrBlock& a, std::int64_t k) {
  const auto entries = std::max<std::int64_t>(1, a.entries() / std::max<std::int64_t>(1, a.rows()));
  return std::max<std::int64_t>(1, entries_of_a_thread / (entries * k));
}

/// The places of a vector's elements, or rows of k: all in x, or columns below `own` in x and the others in the halo.
/// No branch distinguishes these, because half of its predictions would be wrong.
template <class T, bool halos>
class Places {
 public:
  Places(const T* x, const T* halo, std::int64_t own, std::int64_t k = 1)
      : x_(reinterpret_cast<const char*>(x)),
        own_(own),
        size_(k * std::int64_t{sizeof(T)}),
        shift_(halos ? reinterpret_cast<const char*>(halo) - x_ - own * size_ : 0) {}
  [[nodiscard]] const T* operator[](std::int32_t column) const {
    const auto beyond = halos ? shift_ & -static_cast<std::int64_t>(column >= own_) : 0;
    return reinterpret_cast<const T*>(x_ + column * size_ + beyond);
  }

 private:
  const char* x_;
  std::int64_t own_, size_, shift_;
};

void fetch(const void* memory) { __builtin_prefetch(memory); }

/// Distance of prefetches: entries are read in order but faster than hardware predicts, and the elements that they name
/// may lie anywhere.
constexpr std::int64_t bytes_ahead = 4096, elements_ahead = 96, rows_ahead = 12;

/// Returns the first row with fewer than this many of all entries behind it.
template <class T>
std::int64_t last_with_ahead(const View<T>& a, std::int64_t first, std::int64_t last, std::int64_t ahead) {
  const auto* const ends = a.ptr + 1;
  return std::partition_point(ends + first, ends + last, [&](auto end) { return end + ahead <= a.entries; }) - ends;
}

/// Whether most columns are far from those of the row before, judged by some rows.
template <class T>
bool is_scattered(const View<T>& a, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t rows = 64, near = 64;
  std::int64_t seen = 0, far = 0;
  for (auto row = first + 1; row < last; row += std::max<std::int64_t>(1, (last - first) / rows)) {
    const auto length = std::min(a.ptr[row] - a.ptr[row - 1], a.ptr[row + 1] - a.ptr[row]);
    for (std::int64_t i = 0; i < length; ++i, ++seen)
      far += std::abs(a.column[a.ptr[row] + i] - a.column[a.ptr[row - 1] + i]) > near;
  }
  return 2 * far > seen;
}

/// Prefetches entries; if the named elements are scattered, these must not be evicted from the caches.
template <bool scattered, class T>
void fetch_entries(const View<T>& a, std::int64_t begin, std::int64_t end) {
  const auto each_line = [](const auto* first, std::int64_t bytes) {
    const auto* const memory = reinterpret_cast<const char*>(first) + bytes_ahead;
    for (std::int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(memory + at, 0, scattered ? 0 : 3);
  };
  each_line(a.value + begin, (end - begin) * std::int64_t{sizeof(T)});
  each_line(a.column + begin, (end - begin) * 4);
}

template <bool ahead, class T, class Operand>
void multiply_vector(const View<T>& a, const Operand& x, T* y, std::int64_t first, std::int64_t last) {
  for (auto row = first; row < last; ++row) {
    const auto begin = a.ptr[row], end = a.ptr[row + 1];
    fetch_entries<ahead>(a, begin, end);
    T sum = 0;
    for (auto i = begin; i < end; ++i) {
      if (ahead) fetch(x[a.column[i + elements_ahead]]);
      sum += a.value[i] * *x[a.column[i]];
    }
    y[row] = sum;
  }
}

/// Multiplies rows of `length` entries each whose elements are contiguous, those of entry i from at[i] on. Most regular
/// grids have one of a few lengths; compiled for these, the loop is limited only by memory.
template <std::int64_t length_known, class T>
void multiply_rows_alike(const T* value, std::int64_t length, const T* const* at, T* y, std::int64_t rows) {
  if constexpr (length_known > 0) length = length_known;
  for (std::int64_t row = 0; row < rows; ++row, value += length) {
    __builtin_prefetch(reinterpret_cast<const char*>(value) + bytes_ahead);
    T sum = 0;
#pragma GCC unroll 32
    for (std::int64_t i = 0; i < length; ++i) sum += value[i] * at[i][row];
    y[row] = sum;
  }
}
template <class T>
void multiply_rows_alike(const T* value, std::int64_t length, const T* const* at, T* y, std::int64_t rows) {
  switch (length) {
    case 3: return multiply_rows_alike<3>(value, length, at, y, rows);
    case 5: return multiply_rows_alike<5>(value, length, at, y, rows);
    case 7: return multiply_rows_alike<7>(value, length, at, y, rows);
    case 9: return multiply_rows_alike<9>(value, length, at, y, rows);
    case 27: return multiply_rows_alike<27>(value, length, at, y, rows);
    default: return multiply_rows_alike<0>(value, length, at, y, rows);
  }
}

/// Does multiply_vector for rows in runs, whose columns are read once per run.
template <class T, class Operand>
void multiply_runs(const View<T>& a, std::span<const std::int64_t> runs, const Operand& x, T* y, std::int64_t first,
                   std::int64_t last) {
  std::vector<const T*> at;
  for (auto run = std::ranges::upper_bound(runs, first) - 1; first < last; ++run) {
    const auto begin = a.ptr[first], length = a.ptr[first + 1] - begin, end = std::min(last, run[1]);
    at.clear();
    for (auto i = begin; i < begin + length; ++i) at.push_back(x[a.column[i]]);
    multiply_rows_alike(a.value + begin, length, at.data(), y + first, end - first);
    first = end;
  }
}

template <class T>
void fetch_row(const T* row, std::int64_t k) {
  for (std::int64_t at = 0; at < k * std::int64_t{sizeof(T)}; at += 64) fetch(reinterpret_cast<const char*>(row) + at);
}

/// Multiplies by rows of k numbers, 16 at a time in registers.
template <bool ahead, class T, class Operand>
void multiply_matrix(const View<T>& a, const Operand& x, std::int64_t k, T* y, std::int64_t first, std::int64_t last) {
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

/// Multiplies rows first to before last, with prefetches while the named elements are scattered and entries follow.
template <class T, class Operand>
void multiply(const View<T>& a, std::span<const std::int64_t> runs, const Operand& x, std::int64_t k, T* y,
              std::int64_t first, std::int64_t last) {
  if (k == 1 && !runs.empty()) return multiply_runs(a, runs, x, y, first, last);
  const auto ahead = k == 1 ? elements_ahead : rows_ahead;
  const auto until = is_scattered(a, first, last) ? last_with_ahead(a, first, last, ahead) : first;
  if (k == 1) {
    multiply_vector<true>(a, x, y, first, until);
    multiply_vector<false>(a, x, y, until, last);
  } else {
    multiply_matrix<true>(a, x, k, y, first, until);
    multiply_matrix<false>(a, x, k, y, until, last);
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

Columns columns_of(const CsrBlock& a, at::Tensor places, std::int64_t own) {
  constexpr std::int64_t worth = 8;
  const auto* const column = places.const_data_ptr<std::int32_t>();
  const auto* const ptr = a.ptr();
  const auto goes_on = [&](std::int64_t row) {
    const auto length = ptr[row + 1] - ptr[row];
    const auto *const now = column + ptr[row], *const before = now - length;
    return ptr[row] - ptr[row - 1] == length &&
           std::equal(now, now + length, before, [own](auto c, auto d) { return c == d + 1 && c != own; });
  };
  std::vector<std::int64_t> runs{0};
  for (std::int64_t row = 1; row < a.rows(); ++row) {
    if (!goes_on(row)) runs.push_back(row);
    if (worth * std::ssize(runs) > a.rows()) return {std::move(places), {}};
  }
  runs.push_back(a.rows());
  return {std::move(places), std::move(runs)};
}

void multiply_rows(const CsrBlock& a, const Columns& columns, const Operand& operand, at::Tensor& y, std::int64_t first,
                   std::int64_t last) {
  const auto k = width_of(operand.x);
  if (k == 0) return;
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX(a.values.scalar_type(), "multiply_rows", [&] {
    const auto view = view_of<scalar_t>(a, columns.places);
    const std::span<const std::int64_t> runs(columns.runs);
    const auto* const x = operand.x.const_data_ptr<scalar_t>();
    const auto* const halo = operand.halo.defined() ? operand.halo.const_data_ptr<scalar_t>() : nullptr;
    auto* const out = y.data_ptr<scalar_t>();
    at::parallel_for(first, last, grain(a, k), [=, own = operand.own](std::int64_t begin, std::int64_t end) {
      if (halo) multiply(view, runs, Places<scalar_t, true>(x, halo, own, k), k, out, begin, end);
      else multiply(view, runs, Places<scalar_t, false>(x, halo, own, k), k, out, begin, end);
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
