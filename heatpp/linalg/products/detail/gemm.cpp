#include <heatpp/linalg/products/detail/gemm.hpp>

#include <heatpp/comm/detail/machine/scratch.hpp>
#include <heatpp/core/detail/simd.hpp>

#include <ATen/Parallel.h>
#include <ATen/native/CPUBlas.h>
#include <algorithm>
#include <cstring>

namespace heatpp::detail {
namespace {

// A tile is `tile_rows` x `tile_columns` of the result. Its rows of `a` stay in the second-level cache, and
// `panel_columns` of `b` in the third. Kernels are compiled for extents rounded up to `step`, so that there are few.
constexpr std::int64_t tile_rows = 256, tile_columns = 64, depth = 512, panel_columns = 4096, step = 64;

std::int64_t rounded_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

struct View {
  float* data;
  std::int64_t rows, columns, row_stride, column_stride;

  explicit View(const at::Tensor& x) : View{x.data_ptr<float>(), x.size(0), x.size(1), x.stride(0), x.stride(1)} {}
  View(float* at, std::int64_t height, std::int64_t width, std::int64_t down, std::int64_t right)
      : data(at), rows(height), columns(width), row_stride(down), column_stride(right) {}

  [[nodiscard]] View part(std::int64_t row, std::int64_t column, std::int64_t most_rows,
                          std::int64_t most_columns) const {
    return {data + row * row_stride + column * column_stride, std::min(most_rows, rows - row),
            std::min(most_columns, columns - column), row_stride, column_stride};
  }
};

using Eight = float __attribute__((vector_size(32), aligned(4), may_alias));

/// Transposes eight rows of eight.
HEATPP_SIMD void transpose_eight(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride) {
  Eight rows[8], pairs[8], fours[8];
  for (int i = 0; i < 8; ++i) std::memcpy(&rows[i], from + i * from_stride, sizeof(Eight));
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    pairs[i + 1] = __builtin_shufflevector(rows[i], rows[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (const int i : {0, 1, 4, 5}) {
    fours[i] = __builtin_shufflevector(pairs[i], pairs[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    fours[i + 2] = __builtin_shufflevector(pairs[i], pairs[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    rows[i] = __builtin_shufflevector(fours[i], fours[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    rows[i + 4] = __builtin_shufflevector(fours[i], fours[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < 8; ++i) std::memcpy(to + i * to_stride, &rows[i], sizeof(Eight));
}

/// Copies the elements of `x`, row by row, `width` apart.
void copy_rows(const View& x, float* to, std::int64_t width) {
  if (x.column_stride == 1) {
    for (std::int64_t i = 0; i < x.rows; ++i)
      std::memcpy(to + i * width, x.data + i * x.row_stride, static_cast<std::size_t>(x.columns) * sizeof(float));
    return;
  }
  constexpr std::int64_t eight = 8;
  for (std::int64_t i = 0; i < x.rows; i += eight)
    for (std::int64_t j = 0; j < x.columns; j += eight) {
      const auto part = x.part(i, j, eight, eight);
      auto* place = to + i * width + j;
      if (x.row_stride == 1 && part.rows == eight && part.columns == eight) {
        transpose_eight(part.data, part.column_stride, place, width);
        continue;
      }
      for (std::int64_t r = 0; r < part.rows; ++r)
        for (std::int64_t k = 0; k < part.columns; ++k)
          place[r * width + k] = part.data[r * part.row_stride + k * part.column_stride];
    }
}

/// Copies with zeros around, up to `height` x `width`.
void pack(const View& x, float* to, std::int64_t height, std::int64_t width) {
  copy_rows(x, to, width);
  if (x.columns < width)
    for (std::int64_t i = 0; i < x.rows; ++i) std::fill(to + i * width + x.columns, to + (i + 1) * width, 0.0F);
  std::fill(to + x.rows * width, to + height * width, 0.0F);
}

HEATPP_SIMD void add_row(const float* from, float* to, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) to[j] += from[j];
}

void put_tile(const float* tile, const View& c, bool accumulate) {
  constexpr std::int64_t ahead = 16, line = 64 / sizeof(float);
  for (std::int64_t i = 0; i < c.rows; ++i) {
    auto* row = c.data + i * c.row_stride;
    if (i + ahead < c.rows)  // rows lie too far apart for hardware to prefetch them
      for (std::int64_t j = 0; j < c.columns; j += line) __builtin_prefetch(row + ahead * c.row_stride + j, 1);
    if (accumulate) add_row(tile + i * tile_columns, row, c.columns);
    else std::memcpy(row, tile + i * tile_columns, static_cast<std::size_t>(c.columns) * sizeof(float));
  }
}

Scratch floats(std::int64_t count) { return Scratch(count * static_cast<std::int64_t>(sizeof(float))); }
float* data(const Scratch& scratch) { return reinterpret_cast<float*>(scratch.data()); }

/// Multiplies some rows of a by b, whose columns are in `panels`.
void multiply_rows(const View& c, const View& a, const float* panels, std::int64_t deep, bool accumulate) {
  const auto left = floats(tile_rows * deep), tile = floats(tile_rows * tile_columns);
  for (std::int64_t row = 0; row < c.rows; row += tile_rows) {
    const auto rows = a.part(row, 0, tile_rows, deep);
    const auto height = rounded_up(rows.rows, step);
    pack(rows, data(left), height, deep);
    for (std::int64_t column = 0; column < c.columns; column += tile_columns) {
      at::native::cpublas::brgemm(height, tile_columns, deep, deep, tile_columns, tile_columns, false, data(left),
                                  panels + column * deep, data(tile), false);
      put_tile(data(tile), c.part(row, column, tile_rows, tile_columns), accumulate);
    }
  }
  at::native::cpublas::brgemm_release(false);
}

/// Computes c = a * b, or adds it to c, for as many columns of b as fit in the cache.
void multiply_panel(const View& c, const View& a, const View& b, bool accumulate, const std::function<void()>& poll) {
  const auto threads = at::get_num_threads(), columns = static_cast<int>((b.columns + tile_columns - 1) / tile_columns);
  const auto panels = floats(rounded_up(std::min(depth, b.rows), step) * columns * tile_columns);
  for (std::int64_t k = 0; k < b.rows; k += depth) {
    const auto rows = b.part(k, 0, depth, b.columns);
    const auto deep = rounded_up(rows.rows, step);
    at::parallel_for(0, columns, 8, [&](std::int64_t first, std::int64_t last) {
      for (auto i = first; i < last; ++i)
        pack(rows.part(0, i * tile_columns, depth, tile_columns), data(panels) + i * tile_columns * deep, deep,
             tile_columns);
    });
    const auto at_once = tile_rows * threads;
    for (std::int64_t row = 0; row < c.rows; row += at_once) {
      const auto count = std::min(at_once, c.rows - row);
      at::parallel_for(0, count, tile_rows, [&](std::int64_t first, std::int64_t last) {
        multiply_rows(c.part(row + first, 0, last - first, c.columns), a.part(row + first, k, last - first, depth),
                      data(panels), deep, accumulate || k > 0);
      });
      if (poll) poll();
    }
  }
}

}  // namespace

bool fits_panels(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b) {
  const auto fits = [](const at::Tensor& x) { return x.is_cpu() && x.scalar_type() == at::kFloat && !x.is_neg(); };
  return fits(a) && fits(b) && fits(c) && (c.stride(0) == 1 || c.stride(1) == 1) && a.size(0) >= step &&
         a.size(1) >= step && b.size(1) >= step;
}

void multiply_by_panels(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, bool accumulate,
                        const std::function<void()>& poll) {
  if (c.stride(1) != 1 && c.stride(0) == 1) return multiply_by_panels(c.t(), b.t(), a.t(), accumulate, poll);
  const View result(c), left(a), right(b);
  for (std::int64_t column = 0; column < result.columns; column += panel_columns)
    multiply_panel(result.part(0, column, result.rows, panel_columns), left,
                   right.part(0, column, right.rows, panel_columns), accumulate, poll);
}

}  // namespace heatpp::detail
