#include <heatpp/ml/detail/differences.hpp>

#include <ATen/Parallel.h>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/detail/column_products.hpp>

#include <cmath>

namespace heatpp::ml::detail {
namespace {

constexpr std::int64_t height = 8, width_bytes = 64;

template <class T>
constexpr std::int64_t lanes_of = width_bytes / static_cast<std::int64_t>(sizeof(T));

template <class T, int bytes>
struct Lane {
  typedef T Vector __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
};

/// Compares `rows` rows of x with the rows of a column; row r of the result begins at out + r * stride. The sums stay
/// in registers of `bytes`.
template <class T, Difference kind, int bytes, int rows>
[[gnu::always_inline]] inline void compare_rows(const T* const* x, const T* column, std::int64_t features, T* out,
                                                std::int64_t stride) {
  using V = typename Lane<T, bytes>::Vector;
  constexpr int vectors = static_cast<int>(width_bytes) / bytes, lanes = bytes / static_cast<int>(sizeof(T));
  V sum[rows][vectors];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sum[r][v] = V{};
  for (std::int64_t j = 0; j < features; ++j)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      const V y = *reinterpret_cast<const V*>(column + j * lanes_of<T> + v * lanes);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        const V apart = x[r][j] - y;
        if constexpr (kind == Difference::sizes) sum[r][v] += apart < 0 ? -apart : apart;
        else sum[r][v] += apart * apart;
      }
    }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    auto* const row = out + r * stride;
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<V*>(row + v * lanes) = sum[r][v];
    if constexpr (kind == Difference::distances)
      for (std::int64_t lane = 0; lane < lanes_of<T>; ++lane) row[lane] = std::sqrt(row[lane]);
  }
}

/// Compares `height` rows of x with the rows of a column, some at a time.
template <class T, Difference kind, int bytes, int together>
[[gnu::always_inline]] inline void tile_of(const T* const* x, const T* column, std::int64_t features, T* out,
                                           std::int64_t stride) {
  for (std::int64_t r = 0; r < height; r += together)
    compare_rows<T, kind, bytes, together>(x + r, column, features, out + r * stride, stride);
}

/// Turns a row of products -2 x.y into squares, or their roots; negative squares become 0.
template <class T, Difference kind>
[[gnu::always_inline]] inline void expanded(T* __restrict row, const T* __restrict norms, T own, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) {
    const T square = row[j] + norms[j] + own;
    const T apart = square < 0 ? 0 : square;
    row[j] = kind == Difference::distances ? std::sqrt(apart) : apart;
  }
}

#define HEATPP_TILE_OF(target, name, T, kind, bytes, together)                                               \
  target void name(const T* const* x, const T* column, std::int64_t features, T* out, std::int64_t stride) { \
    tile_of<T, Difference::kind, bytes, together>(x, column, features, out, stride);                         \
  }
#ifdef HEATPP_WIDE
#define HEATPP_TILE(T, kind)                                                                                      \
  HEATPP_TILE_OF(HEATPP_SIMD, narrow_##kind, T, kind, 32, 4)                                                      \
  HEATPP_TILE_OF(HEATPP_WIDE, wide_##kind, T, kind, 64, 8)                                                        \
  void kind##_of(const T* const* x, const T* column, std::int64_t features, T* out, std::int64_t stride) {        \
    has_wide() ? wide_##kind(x, column, features, out, stride) : narrow_##kind(x, column, features, out, stride); \
  }
#else
#define HEATPP_TILE(T, kind) HEATPP_TILE_OF(HEATPP_SIMD, kind##_of, T, kind, 32, 4)
#endif
#define HEATPP_EXPANDED(T, kind)                                                    \
  HEATPP_SIMD void expanded_##kind(T* row, const T* norms, T own, std::int64_t n) { \
    expanded<T, Difference::kind>(row, norms, own, n);                              \
  }
#define HEATPP_DIFFERENCES(T) \
  HEATPP_TILE(T, squares)     \
  HEATPP_TILE(T, distances)   \
  HEATPP_TILE(T, sizes)       \
  HEATPP_EXPANDED(T, squares) \
  HEATPP_EXPANDED(T, distances)
HEATPP_DIFFERENCES(float)
HEATPP_DIFFERENCES(double)
#undef HEATPP_DIFFERENCES
#undef HEATPP_EXPANDED
#undef HEATPP_TILE
#undef HEATPP_TILE_OF

template <class T>
void tile(Difference kind, const T* const* x, const T* column, std::int64_t features, T* out, std::int64_t stride) {
  if (kind == Difference::squares) squares_of(x, column, features, out, stride);
  else if (kind == Difference::distances) distances_of(x, column, features, out, stride);
  else sizes_of(x, column, features, out, stride);
}

/// Compares `rows` rows of x, at most `height` at a time; the last row fills an incomplete group.
template <class T>
void rows_of(Difference kind, const T* x, std::int64_t rows, const Columns& y, T* out, std::int64_t stride) {
  constexpr auto lanes = lanes_of<T>;
  const auto* const columns = y.values.const_data_ptr<T>();
  T sums[height * lanes];
  for (std::int64_t i = 0; i < rows; i += height) {
    const auto some = std::min(height, rows - i);
    const T* from[height];
    for (std::int64_t r = 0; r < height; ++r) from[r] = x + (i + std::min(r, some - 1)) * y.features;
    for (std::int64_t c = 0; c < y.rows; c += lanes) {
      const auto* column = columns + c * y.features;
      auto* const to = out + i * stride + c;
      const auto width = std::min(lanes, y.rows - c);
      if (some == height && width == lanes) {
        tile(kind, from, column, y.features, to, stride);
        continue;
      }
      tile(kind, from, column, y.features, sums, lanes);
      for (std::int64_t r = 0; r < some; ++r) std::copy_n(sums + r * lanes, width, to + r * stride);
    }
  }
}

/// Calls f(first row, last row) for parts of the rows, on several threads.
template <class F>
void for_parts(std::int64_t rows, std::int64_t together, const F& f) {
  at::parallel_for(0, rows, 2 * together, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; i += together) f(i, std::min(end, i + together));
  });
}

constexpr std::int64_t part_bytes = 1 << 20;  // of a result: small enough to stay in the cache until it is finished

template <class T>
void by_differences(Difference kind, const at::Tensor& x, const at::Tensor& y, const at::Tensor& result,
                    const Finish& finish) {
  // Columns, with which all rows are compared, stay in the cache, too.
  constexpr std::int64_t together = 32, size = sizeof(T), most = part_bytes / size / together;
  const auto features = x.size(1);
  const auto stretch =
      std::clamp<std::int64_t>(part_bytes / 4 / size / std::max<std::int64_t>(1, features) / 64 * 64, 64, most);
  const auto* const from = x.const_data_ptr<T>();
  auto* const out = result.mutable_data_ptr<T>();
  for (std::int64_t first = 0; first < y.size(0); first += stretch) {
    const auto last = std::min(y.size(0), first + stretch);
    const Columns columns(y.slice(0, first, last));
    for_parts(x.size(0), together, [&](std::int64_t begin, std::int64_t end) {
      rows_of(kind, from + begin * features, end - begin, columns, out + begin * result.stride(0) + first,
              result.stride(0));
      if (finish) finish(result.slice(0, begin, end).slice(1, first, last));
    });
  }
}

template <class T>
void by_product(Difference kind, const at::Tensor& x, const at::Tensor& y, const at::Tensor& result,
                const Finish& finish) {
  const auto origin = y.to(at::kDouble).mean(0, /*keepdim=*/true).to(y.scalar_type());
  const auto right = y - origin, left = x - origin;
  const auto norms = right.square().sum(1), own = left.square().sum(1), doubled = left * -2;
  const auto* const of_columns = norms.const_data_ptr<T>();
  const auto* const of_rows = own.const_data_ptr<T>();
  auto* const out = result.mutable_data_ptr<T>();
  constexpr std::int64_t together = 256, stretch = part_bytes / sizeof(T) / together;
  for (std::int64_t first = 0; first < y.size(0); first += stretch) {
    const auto last = std::min(y.size(0), first + stretch);
    const auto columns = right.slice(0, first, last).t();
    for_parts(x.size(0), together, [&](std::int64_t begin, std::int64_t end) {
      auto part = result.slice(0, begin, end).slice(1, first, last);
      at::mm_out(part, doubled.slice(0, begin, end), columns);
      for (auto i = begin; i < end; ++i) {
        auto* const row = out + i * result.stride(0) + first;
        if (kind == Difference::distances) expanded_distances(row, of_columns + first, of_rows[i], last - first);
        else expanded_squares(row, of_columns + first, of_rows[i], last - first);
      }
      if (finish) finish(part);
    });
  }
}

}  // namespace

Columns::Columns(const at::Tensor& y) : rows(y.size(0)), features(y.size(1)) {
  const auto lanes = width_bytes / y.element_size(), vectors = (rows + lanes - 1) / lanes;
  values = at::constant_pad_nd(y, {0, 0, 0, vectors * lanes - rows})
               .view({vectors, lanes, features})
               .transpose(1, 2)
               .contiguous();
}

void differences(Difference kind, const at::Tensor& x, const Columns& y, const at::Tensor& result) {
  const auto write = [&]<class T>(T* out) {
    rows_of(kind, x.const_data_ptr<T>(), x.size(0), y, out, result.stride(0));
  };
  if (x.scalar_type() == at::kFloat) write(result.mutable_data_ptr<float>());
  else write(result.mutable_data_ptr<double>());
}

void differences(Difference kind, const at::Tensor& x, const at::Tensor& y, const at::Tensor& result,
                 const Finish& finish) {
  if (x.scalar_type() == at::kFloat) by_differences<float>(kind, x, y, result, finish);
  else by_differences<double>(kind, x, y, result, finish);
}

void differences_by_product(Difference kind, const at::Tensor& x, const at::Tensor& y, const at::Tensor& result,
                            const Finish& finish) {
  if (x.scalar_type() == at::kFloat) by_product<float>(kind, x, y, result, finish);
  else by_product<double>(kind, x, y, result, finish);
}

}  // namespace heatpp::ml::detail
