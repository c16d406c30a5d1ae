#include <heatpp/ml/neighbors/detail/search.hpp>

#include <ATen/Parallel.h>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/detail/differences.hpp>

#include <cmath>
#include <limits>

namespace heatpp::ml::detail {
namespace {

constexpr std::int64_t tile_rows = 128, tile_columns = 1024;  // of lower bounds, in the second-level cache

/// Sums over features, as eight sums of every eighth feature.
template <class T, class F>
[[gnu::always_inline]] inline double eight_sums(const T* x, const T* y, std::int64_t features, F f) {
  double sums[8] = {};
  std::int64_t j = 0;
  for (; j + 8 <= features; j += 8)
    for (int l = 0; l < 8; ++l) sums[l] += f(static_cast<double>(x[j + l]) - static_cast<double>(y[j + l]));
  for (int l = 0; j < features; ++j, ++l) sums[l] += f(static_cast<double>(x[j]) - static_cast<double>(y[j]));
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

#define HEATPP_EXACT(T)                                                          \
  HEATPP_SIMD double squares_of(const T* x, const T* y, std::int64_t features) { \
    return eight_sums(x, y, features, [](double d) { return d * d; });           \
  }                                                                              \
  HEATPP_SIMD double sizes_of(const T* x, const T* y, std::int64_t features) {   \
    return eight_sums(x, y, features, [](double d) { return d < 0 ? -d : d; });  \
  }                                                                              \
  HEATPP_SIMD bool any_near(const T* values, std::int64_t count, T limit) {      \
    int any = 0;                                                                 \
    for (std::int64_t i = 0; i < count; ++i) any |= !(values[i] > limit);        \
    return any != 0;                                                             \
  }
HEATPP_EXACT(float)
HEATPP_EXACT(double)
#undef HEATPP_EXACT

/// Some rows to search, and what their lower bounds need: columns side by side for differences, or rows about their
/// mean for a product.
struct Stretch {
  at::Tensor rows;
  std::optional<Columns> columns = std::nullopt;
  at::Tensor origin = {}, centered = {}, norms = {};
  double shrunk = 0;  ///< factor for norms, so that rounding lifts no bound above the distance
};

Stretch stretch_of(Metric metric, const at::Tensor& rows) {
  if (metric == Metric::manhattan || rows.size(1) < product_features) return {rows, Columns(rows)};
  const auto eps = rows.scalar_type() == at::kFloat ? double{std::numeric_limits<float>::epsilon()}
                                                    : std::numeric_limits<double>::epsilon();
  const auto shrunk = 1 - static_cast<double>(rows.size(1) + 16) * eps;
  const auto origin = rows.to(at::kDouble).mean(0, /*keepdim=*/true).to(rows.scalar_type());
  const auto centered = rows - origin;
  return {rows, std::nullopt, origin, centered, centered.square().sum(1).mul_(shrunk), shrunk};
}

/// Computes a lower bound for each row of `asking` and each of the stretch; `offsets` is added to the bounds of a row.
void bounds(Metric metric, const at::Tensor& asking, const Stretch& s, const at::Tensor& tile, at::Tensor& offsets) {
  if (s.columns) {
    differences(metric == Metric::manhattan ? Difference::sizes : Difference::squares, asking, *s.columns, tile);
    offsets = at::zeros({asking.size(0)}, at::kDouble);
    return;
  }
  const auto centered = asking - s.origin;
  auto out = tile;
  at::addmm_out(out, s.norms, centered, s.centered.t(), 1, -2);
  offsets = centered.square().sum(1).to(at::kDouble).mul_(s.shrunk);
}

/// Returns the largest rounded bound in T for an exact bound of at most `limit`, or infinity if it is unknown.
template <class T>
T at_most(const Stretch& s, double limit) {
  if (limit == -std::numeric_limits<double>::infinity()) return std::numeric_limits<T>::infinity();
  limit += static_cast<double>(s.rows.size(1)) * std::numeric_limits<T>::min();  // for squares that underflow
  if (s.columns) limit *= 1 + static_cast<double>(s.columns->features + 4) * std::numeric_limits<T>::epsilon();
  return std::nextafter(static_cast<T>(limit), std::numeric_limits<T>::infinity());
}

template <class T>
void search_tile(const Search& search, const at::Tensor& asking, std::int64_t top, const Stretch& s, std::int64_t first,
                 const at::Tensor& buffer) {
  const auto rows = asking.size(0), columns = s.rows.size(0), features = asking.size(1);
  const auto tile = buffer.slice(0, 0, rows).slice(1, 0, columns);
  at::Tensor offsets;
  bounds(search.metric, asking, s, tile, offsets);
  const auto exact = search.metric == Metric::manhattan
                         ? static_cast<double (*)(const T*, const T*, std::int64_t)>(sizes_of)
                         : static_cast<double (*)(const T*, const T*, std::int64_t)>(squares_of);
  const T* const bounds_of = tile.const_data_ptr<T>();
  const T* const asking_rows = asking.const_data_ptr<T>();
  const T* const fitted_rows = s.rows.const_data_ptr<T>();
  constexpr std::int64_t some = 64;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto* row = bounds_of + i * buffer.stride(0);
    const auto* x = asking_rows + i * features;
    const auto offset = offsets.const_data_ptr<double>()[i];
    const auto limit = [&] { return at_most<T>(s, search.bound(top + i) - offset); };
    auto below = limit();
    for (std::int64_t c = 0; c < columns; c += some) {
      const auto end = std::min(columns, c + some);
      if (!any_near(row + c, end - c, below)) continue;
      for (auto j = c; j < end; ++j) {
        if (row[j] > below) continue;  // NaN, from numbers too large for the dtype, is not skipped
        const auto apart = exact(x, fitted_rows + j * features, features);
        if (!(apart <= search.bound(top + i))) continue;
        search.take(top + i, {apart, first + j});
        below = limit();
      }
    }
  }
}

}  // namespace

at::Tensor comparable(Metric metric, const at::Tensor& rows, bool fitted) {
  if (metric != Metric::cosine) return rows;
  const auto wide = rows.to(at::kDouble);
  const auto length = wide.norm(2, {1}, /*keepdim=*/true);
  const auto zero = length.eq(0).to(at::kDouble), none = at::zeros_like(zero);
  return at::cat({wide / at::where(length == 0, 1.0, length), fitted ? zero : none, fitted ? none : zero}, 1)
      .to(rows.scalar_type())
      .contiguous();
}

double reduced(Metric metric, double distance) {
  if (metric == Metric::manhattan) return distance;
  return metric == Metric::euclidean ? distance * distance : 2 * distance;
}

double distance_of(Metric metric, double reduced) {
  if (metric == Metric::manhattan) return reduced;
  return metric == Metric::euclidean ? std::sqrt(reduced) : reduced / 2;
}

void Search::operator()(const at::Tensor& asking, const at::Tensor& block, std::int64_t first) const {
  const bool narrow = asking.scalar_type() == at::kFloat;
  for (std::int64_t from = 0; from < block.size(0); from += tile_columns) {
    const auto s = stretch_of(metric, block.slice(0, from, from + tile_columns));
    at::parallel_for(0, (asking.size(0) + tile_rows - 1) / tile_rows, 1, [&](auto begin, auto end) {
      const auto buffer = at::empty({tile_rows, tile_columns}, asking.options());
      for (auto t = begin; t < end; ++t) {
        const auto rows = asking.slice(0, t * tile_rows, (t + 1) * tile_rows);
        (narrow ? search_tile<float> : search_tile<double>)(*this, rows, t * tile_rows, s, first + from, buffer);
      }
    });
  }
}

}  // namespace heatpp::ml::detail
