#include <heatpp/ml/tree/detail/bins.hpp>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/detail/row_random.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace heatpp::ml::detail {
namespace {

constexpr std::int64_t block_rows = 64;

/// Rounds an edge down to the rows' precision: the same rows lie above the result.
template <class T>
std::vector<T> rounded_down(const std::vector<double>& edges) {
  std::vector<T> result(edges.begin(), edges.end());
  for (std::size_t i = 0; i < result.size(); ++i)
    if (static_cast<double>(result[i]) > edges[i])
      result[i] = std::nextafter(result[i], -std::numeric_limits<T>::infinity());
  return result;
}

/// Counts for each number how many of the 255 edges lie below it, by binary search.
#define HEATPP_SEARCH(T)                                                                                   \
  HEATPP_SIMD void places(const T* __restrict x, const T* __restrict edges, std::int32_t* __restrict at) { \
    for (std::int64_t i = 0; i < block_rows; ++i) at[i] = 0;                                               \
    for (std::int32_t step = 128; step > 0; step /= 2)                                                     \
      for (std::int64_t i = 0; i < block_rows; ++i) at[i] += edges[at[i] + step - 1] < x[i] ? step : 0;    \
  }
HEATPP_SEARCH(float)
HEATPP_SEARCH(double)
#undef HEATPP_SEARCH

/// Finds the bins of up to block_rows rows.
template <class T>
void bin_block(const T* rows, std::int64_t count, const Bins& bins, const std::vector<T>& edges, BinnedRows& out,
               std::int64_t first) {
  T x[block_rows] = {};
  std::int32_t at[block_rows];
  auto* rows_out = out.bins.mutable_data_ptr<std::uint8_t>() + first * out.stride;
  for (std::int64_t j = 0; j < bins.features; ++j) {
    for (std::int64_t i = 0; i < count; ++i) x[i] = rows[i * bins.features + j];
    places(x, edges.data() + j * edge_stride, at);
    const auto last = bins.count[static_cast<std::size_t>(j)];
    auto* column = out.columns.mutable_data_ptr<std::uint8_t>() + j * out.rows + first;
    for (std::int64_t i = 0; i < count; ++i)
      rows_out[i * out.stride + j] = column[i] = static_cast<std::uint8_t>(std::isnan(x[i]) ? last : at[i]);
  }
}

/// Returns the stride of a row: a cache line for up to 64 features, so that a row is fetched at once.
std::int64_t stride_of(std::int64_t features) {
  if (features <= 32) return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(features)));
  return (features + 31) / 32 * 32;
}

}  // namespace

BinnedRows binned(const Rows& rows, const Bins& bins) {
  const auto stride = stride_of(bins.features);
  BinnedRows result{rows.count(), stride, at::zeros({rows.count() * stride}, at::kByte),
                    at::empty({rows.count() * bins.features}, at::kByte)};
  const auto singles = rounded_down<float>(bins.edges);
  const auto work = [&] {
    for_pieces(rows, [&]<class T>(const Piece<T>& piece, int) {
      for (std::int64_t i = 0; i < piece.rows; i += block_rows) {
        const auto count = std::min(block_rows, piece.rows - i);
        if constexpr (std::is_same_v<T, float>) bin_block(piece.row(i), count, bins, singles, result, piece.first + i);
        else bin_block(piece.row(i), count, bins, bins.edges, result, piece.first + i);
      }
    });
  };
  if (rows.in_memory()) work();
  else all_or_none(rows.comm(), work);
  return result;
}

}  // namespace heatpp::ml::detail
