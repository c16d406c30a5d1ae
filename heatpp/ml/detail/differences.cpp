#include <ATen/Parallel.h>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/detail/differences.hpp>

namespace heatpp::ml::detail {
namespace {

constexpr std::int64_t height = 8, width_bytes = 64;

/// Some rows of y as columns: `lanes` of them beside one another for each feature, 0 where there are no more.
template <class T>
struct Columns {
  static constexpr std::int64_t lanes = width_bytes / sizeof(T);
  std::int64_t features, rows;
  std::vector<T> values;
  explicit Columns(const at::Tensor& y)
      : features(y.size(1)),
        rows(y.size(0)),
        values(static_cast<std::size_t>((rows + lanes - 1) / lanes * lanes * features), T{0}) {
    const auto* from = y.const_data_ptr<T>();
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < features; ++j)
        values[static_cast<std::size_t>((i / lanes * features + j) * lanes + i % lanes)] = from[i * features + j];
  }
};

template <class T>
struct Lane {
  typedef T Vector __attribute__((vector_size(width_bytes), aligned(sizeof(T)), may_alias));
};

template <class T, Difference kind>
[[gnu::always_inline]] inline void tile_of(const T* const* x, const T* column, std::int64_t features, T* sums) {
  using V = typename Lane<T>::Vector;
  constexpr auto lanes = Columns<T>::lanes;
  V sum[height];
#pragma GCC unroll 8
  for (int r = 0; r < height; ++r) sum[r] = V{};
  for (std::int64_t j = 0; j < features; ++j) {
    const V y = *reinterpret_cast<const V*>(column + j * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < height; ++r) {
      const V apart = x[r][j] - y;
      if constexpr (kind == Difference::squares) sum[r] += apart * apart;
      else sum[r] += apart < 0 ? -apart : apart;
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < height; ++r) *reinterpret_cast<V*>(sums + r * lanes) = sum[r];
}

#define HEATPP_TILE(name, T, kind)                                                            \
  HEATPP_SIMD void name(const T* const* x, const T* column, std::int64_t features, T* sums) { \
    tile_of<T, kind>(x, column, features, sums);                                              \
  }
HEATPP_TILE(squares, float, Difference::squares)
HEATPP_TILE(squares, double, Difference::squares)
HEATPP_TILE(sizes, float, Difference::sizes)
HEATPP_TILE(sizes, double, Difference::sizes)
#undef HEATPP_TILE

/// Rows begin .. end of the result, at most `height` at a time; the last one stands in for those that are missing.
template <class T>
void rows_of(Difference kind, const at::Tensor& x, const Columns<T>& y, const at::Tensor& result, std::int64_t begin,
             std::int64_t end) {
  constexpr auto lanes = Columns<T>::lanes;
  T sums[height * lanes];
  for (auto i = begin; i < end; i += height) {
    const auto some = std::min(height, end - i);
    const T* from[height];
    for (std::int64_t r = 0; r < height; ++r)
      from[r] = x.const_data_ptr<T>() + (i + std::min(r, some - 1)) * y.features;
    for (std::int64_t c = 0; c < y.rows; c += lanes) {
      const auto* column = y.values.data() + c * y.features;
      if (kind == Difference::squares) squares(from, column, y.features, sums);
      else sizes(from, column, y.features, sums);
      const auto columns = std::min(lanes, y.rows - c);
      for (std::int64_t r = 0; r < some; ++r)
        std::copy_n(sums + r * lanes, columns, result.data_ptr<T>() + (i + r) * result.stride(0) + c);
    }
  }
}

template <class T>
void all_of(Difference kind, const at::Tensor& x, const at::Tensor& y, const at::Tensor& result) {
  constexpr std::int64_t cached = 1 << 18;  // bytes of columns that many rows are compared with
  const auto stretch = std::max<std::int64_t>(
      64, cached / static_cast<std::int64_t>(sizeof(T)) / std::max<std::int64_t>(1, x.size(1)) / 64 * 64);
  for (std::int64_t first = 0; first < y.size(0); first += stretch) {
    const auto last = std::min(y.size(0), first + stretch);
    const Columns<T> columns(y.slice(0, first, last));
    const auto part = result.slice(1, first, last);
    at::parallel_for(0, x.size(0), 64, [&](auto begin, auto end) { rows_of(kind, x, columns, part, begin, end); });
  }
}

}  // namespace

void differences(Difference kind, const at::Tensor& x, const at::Tensor& y, const at::Tensor& result) {
  if (x.scalar_type() == at::kFloat) all_of<float>(kind, x, y, result);
  else all_of<double>(kind, x, y, result);
}

void squares_by_product(const at::Tensor& x, const at::Tensor& y, const at::Tensor& result) {
  const auto origin = y.to(at::kDouble).mean(0, /*keepdim=*/true).to(y.scalar_type());
  const auto right = y - origin;
  const auto norms = right.square().sum(1);
  constexpr std::int64_t rows = 512;
  for (std::int64_t first = 0; first < x.size(0); first += rows) {
    const auto left = x.slice(0, first, first + rows) - origin;
    auto part = result.slice(0, first, first + rows);
    at::addmm_out(part, norms, left, right.t(), 1, -2);
    part.add_(left.square().sum(1, /*keepdim=*/true)).clamp_min_(0);
  }
}

}  // namespace heatpp::ml::detail
