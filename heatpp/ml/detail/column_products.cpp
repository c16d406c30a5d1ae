#include <heatpp/ml/detail/column_products.hpp>

namespace heatpp::ml::detail {
namespace {

template <int bytes>
struct Lanes {
  typedef double Vector __attribute__((vector_size(bytes), aligned(sizeof(double)), may_alias));
  static constexpr auto count = static_cast<std::int64_t>(bytes / sizeof(double));
};

/// Computes the products of `height` columns of a stripe with a stripe of `right`, two registers wide.
template <int bytes, int height>
[[gnu::always_inline]] inline void add_tile(const double* left, const double* right, std::int64_t rows,
                                            std::int64_t width, double* sum) {
  using Vector = typename Lanes<bytes>::Vector;
  constexpr auto lanes = Lanes<bytes>::count;
  Vector products[height][2] = {};
  for (std::int64_t r = 0; r < rows; ++r, left += stripe_width, right += stripe_width) {
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

/// Computes the tile of `height` columns from `i` on with the stripe's part from `j` on.
template <int bytes, int height>
[[gnu::always_inline]] inline void add_tile_at(const Stripes& x, std::int64_t i, std::int64_t j, std::int64_t width,
                                               double* sum) {
  add_tile<bytes, height>(x.left + i / stripe_width * x.apart + i % stripe_width,
                          x.right + j / stripe_width * x.apart + j % stripe_width, x.rows, width, sum + i * width + j);
}

/// Computes the tile of the last one or two columns, such as targets.
template <int bytes, int height>
[[gnu::always_inline]] inline void add_tiles(const Stripes& x, std::int64_t width, double* sum) {
  constexpr auto across = 2 * Lanes<bytes>::count;
  constexpr int last = 2;
  static_assert(stripe_width % across == 0 && stripe_width % height == 0);
  for (std::int64_t j = 0; j < x.columns; j += across) {
    auto i = j / height * height;
    for (; i + last < x.columns; i += height) add_tile_at<bytes, height>(x, i, j, width, sum);
    for (; i < x.columns; i += last) add_tile_at<bytes, last>(x, i, j, width, sum);
  }
}

#define HEATPP_PRODUCTS(target, name, bytes, height) \
  target void name(const Stripes& x, std::int64_t width, double* sum) { add_tiles<bytes, height>(x, width, sum); }
HEATPP_PRODUCTS(HEATPP_SIMD, narrow, 32, 4)
#ifdef HEATPP_WIDE
HEATPP_PRODUCTS(HEATPP_WIDE, wide, 64, 8)
#else
constexpr auto wide = narrow;
#endif
#undef HEATPP_PRODUCTS

}  // namespace

void add_column_products(const Stripes& x, std::int64_t width, double* sum) {
  (has_wide() ? wide : narrow)(x, width, sum);
}

}  // namespace heatpp::ml::detail
