#include <heatpp/ml/detail/column_products.hpp>

namespace heatpp::ml::detail {
namespace {

template <int bytes>
struct Lanes {
  typedef double Vector __attribute__((vector_size(bytes), aligned(sizeof(double)), may_alias));
  static constexpr auto count = static_cast<std::int64_t>(bytes / sizeof(double));
};

/// The products of `height` columns of left with two registers of columns of right.
template <int bytes, int height>
[[gnu::always_inline]] inline void add_tile(const double* left, const double* right, std::int64_t rows,
                                            std::int64_t width, double* sum) {
  using Vector = typename Lanes<bytes>::Vector;
  constexpr auto lanes = Lanes<bytes>::count;
  Vector products[height][2] = {};
  for (std::int64_t r = 0; r < rows; ++r, left += width, right += width) {
    const Vector a = *reinterpret_cast<const Vector*>(right), b = *reinterpret_cast<const Vector*>(right + lanes);
#pragma GCC unroll 8
    for (int h = 0; h < height; ++h) {
      products[h][0] += left[h] * a;
      products[h][1] += left[h] * b;
    }
  }
#pragma GCC unroll 8
  for (int h = 0; h < height; ++h, sum += width) {
    *reinterpret_cast<Vector*>(sum) += products[h][0];
    *reinterpret_cast<Vector*>(sum + lanes) += products[h][1];
  }
}

template <int bytes, int height>
[[gnu::always_inline]] inline void add_tiles(const double* left, const double* right, std::int64_t rows,
                                             std::int64_t columns, std::int64_t width, double* sum) {
  constexpr auto across = 2 * Lanes<bytes>::count;
  static_assert(column_padding % across == 0 && column_padding % height == 0);
  for (std::int64_t j = 0; j < columns; j += across)
    for (std::int64_t i = j / height * height; i < columns; i += height)
      add_tile<bytes, height>(left + i, right + j, rows, width, sum + i * width + j);
}

#define HEATPP_PRODUCTS(target, name, bytes, height)                                                 \
  target void name(const double* left, const double* right, std::int64_t rows, std::int64_t columns, \
                   std::int64_t width, double* sum) {                                                \
    add_tiles<bytes, height>(left, right, rows, columns, width, sum);                                \
  }
HEATPP_PRODUCTS(HEATPP_SIMD, narrow, 32, 4)
#ifdef HEATPP_WIDE
HEATPP_PRODUCTS(HEATPP_WIDE, wide, 64, 8)
#else
constexpr auto wide = narrow;
#endif
#undef HEATPP_PRODUCTS

}  // namespace

void add_column_products(const double* left, const double* right, std::int64_t rows, std::int64_t columns,
                         std::int64_t width, double* sum) {
  (has_wide() ? wide : narrow)(left, right, rows, columns, width, sum);
}

}  // namespace heatpp::ml::detail
