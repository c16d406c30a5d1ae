#include <heatpp/ops/reductions/detail/exact_sums.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

namespace heatpp::detail {
namespace {

// Columns are summed in parallel, some rows at a time: first the part of each number that is a whole number
// of large units, then the rest in small units. Both are added in float64, which is exact as long as a sum
// stays below 2^51 units. So nothing is lost if a second rest is 0, for any units; the largest number of a
// column determines them. If something is left, the numbers span more than 86 bits, and the rests are summed
// again.
constexpr std::int64_t lanes = 16, group = 8;  // columns of a tile; of those in registers together
constexpr std::int64_t tile_rows = 256;
constexpr int unit_bits = 43;        // bits of a number in units: 2^8 such numbers are less than 2^51
constexpr int lowest_bit = -1074;    // lowest bit of a float64
constexpr double largest = 0x1p960;  // units exist up to this

/// Rows of columns that are neighbors or begin at `places`.
template <class T>
struct Tile {
  const T* data;
  std::int64_t rows, stride;
  const std::int64_t* places = nullptr;
};

/// Numbers that round to a whole number of units by adding and subtracting them.
struct Units {
  double large[lanes], small[lanes];
  int large_bit[lanes], small_bit[lanes];
};
struct Digits {
  std::int64_t large[lanes], small[lanes];
};

double rounding_to(int bit) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(bit + 52 + 1023) << 52 | std::uint64_t{1} << 51);
}

/// Returns units for numbers of at most this size.
Units units_for(const double* most) {
  Units units;
  for (std::int64_t l = 0; l < lanes; ++l) {
    const auto above = static_cast<int>(std::bit_cast<std::uint64_t>(most[l]) >> 52) - 1022;  // most < 2^above
    units.large_bit[l] = std::max(above - unit_bits, lowest_bit);
    units.small_bit[l] = std::max(above - 2 * unit_bits, lowest_bit);
    units.large[l] = rounding_to(units.large_bit[l]);
    units.small[l] = rounding_to(units.small_bit[l]);
  }
  return units;
}

/// Compares by bits, which order as the numbers do, with NaN last.
template <class T, bool Apart>
[[gnu::always_inline]] inline void find_most(const Tile<T>& tile, double* most) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  Bits best[lanes] = {};
  for (std::int64_t i = 0; i < tile.rows; ++i)
    for (std::int64_t l = 0; l < lanes; ++l) {
      const auto x = std::bit_cast<Bits>(tile.data[i * tile.stride + (Apart ? tile.places[l] : l)]);
      best[l] = std::max<Bits>(best[l], x & std::numeric_limits<Bits>::max());
    }
  for (std::int64_t l = 0; l < lanes; ++l) most[l] = static_cast<double>(std::bit_cast<T>(best[l]));
}

/// Takes the digits of columns first .. first + group - 1; returns whether nothing is left. The rest goes to `rests`,
/// if given, a C-ordered array of a tile's columns.
template <class T, bool Apart, bool Keep>
[[gnu::always_inline]] inline bool take_digits(const Tile<T>& tile, std::int64_t first, const Units& units,
                                               Digits& digits, double* rests) {
  double large[group] = {}, small[group] = {};
  std::uint64_t left[group] = {};
  const double* __restrict to_large = units.large + first;
  const double* __restrict to_small = units.small + first;
  for (std::int64_t i = 0; i < tile.rows; ++i)
    for (std::int64_t l = 0; l < group; ++l) {
      const auto x = static_cast<double>(tile.data[i * tile.stride + (Apart ? tile.places[first + l] : first + l)]);
      const double high = (x + to_large[l]) - to_large[l], rest = x - high;
      const double low = (rest + to_small[l]) - to_small[l], last = rest - low;
      large[l] += high;
      small[l] += low;
      left[l] |= std::bit_cast<std::uint64_t>(last);
      if constexpr (Keep) rests[i * lanes + first + l] = last;
    }
  std::uint64_t all = 0;
  for (std::int64_t l = 0; l < group; ++l) {
    digits.large[first + l] =
        std::bit_cast<std::int64_t>(large[l] + to_large[l]) - std::bit_cast<std::int64_t>(to_large[l]);
    digits.small[first + l] =
        std::bit_cast<std::int64_t>(small[l] + to_small[l]) - std::bit_cast<std::int64_t>(to_small[l]);
    all |= left[l];
  }
  return all << 1 == 0;  // -0 leaves -0
}

#define HEATPP_EXACT_SUMS(T)                                                                             \
  HEATPP_SIMD void most_of(const Tile<T>& tile, double* most) {                                          \
    if (tile.places) find_most<T, true>(tile, most);                                                     \
    else find_most<T, false>(tile, most);                                                                \
  }                                                                                                      \
  HEATPP_SIMD bool digits_of(const Tile<T>& tile, std::int64_t first, const Units& units, Digits& out) { \
    return tile.places ? take_digits<T, true, false>(tile, first, units, out, nullptr)                   \
                       : take_digits<T, false, false>(tile, first, units, out, nullptr);                 \
  }
HEATPP_EXACT_SUMS(float)
HEATPP_EXACT_SUMS(double)
#undef HEATPP_EXACT_SUMS

HEATPP_SIMD bool digits_and_rests(double* rests, std::int64_t rows, std::int64_t first, const Units& units,
                                  Digits& out) {
  return take_digits<double, false, true>({rests, rows, lanes}, first, units, out, rests);
}

/// Adds the digits of columns `skip` .. `count` - 1.
void add_digits(const Digits& digits, const Units& units, std::int64_t skip, std::int64_t count, ExactSum* out) {
  for (auto l = skip; l < count; ++l) {
    out[l].add_at(digits.large[l], units.large_bit[l]);
    out[l].add_at(digits.small[l], units.small_bit[l]);
  }
}

/// Adds numbers of any size, also ones that are not finite.
template <class T>
void add_wide_tile(const Tile<T>& tile, std::int64_t skip, std::int64_t count, ExactSum* out) {
  double rests[tile_rows * lanes];
  for (std::int64_t i = 0; i < tile.rows; ++i)
    for (std::int64_t l = 0; l < lanes; ++l) {
      const auto x = static_cast<double>(tile.data[i * tile.stride + (tile.places ? tile.places[l] : l)]);
      const bool fits = std::abs(x) < largest;
      rests[i * lanes + l] = fits ? x : 0;
      if (!fits && l >= skip && l < count) out[l].add(x);
    }
  for (bool ended = false; !ended;) {
    double most[lanes];
    most_of(Tile<double>{rests, tile.rows, lanes}, most);
    const auto units = units_for(most);
    Digits digits;
    ended = true;
    for (std::int64_t first = 0; first < lanes; first += group)
      ended = digits_and_rests(rests, tile.rows, first, units, digits) && ended;
    add_digits(digits, units, skip, count, out);
  }
}

template <class T>
void add_tile(const Tile<T>& tile, std::int64_t skip, std::int64_t count, ExactSum* out) {
  double most[lanes];
  most_of(tile, most);
  if (!std::ranges::all_of(most, [](double x) { return x < largest; })) return add_wide_tile(tile, skip, count, out);
  const auto units = units_for(most);
  Digits digits;
  for (std::int64_t first = 0; first < lanes; first += group)
    if (!digits_of(tile, first, units, digits)) return add_wide_tile(tile, skip, count, out);
  add_digits(digits, units, skip, count, out);
}

/// Adds an (n, inner) array with at least `lanes` columns. The last columns are read in a tile that overlaps the one
/// before.
template <class T>
void add_wide(const T* data, std::int64_t n, std::int64_t inner, ExactSum* out) {
  for (std::int64_t row = 0; row < n; row += tile_rows)
    for (std::int64_t column = 0; column < inner; column += lanes) {
      const auto first = std::min(column, inner - lanes);
      const Tile<T> tile{data + row * inner + first, std::min(tile_rows, n - row), inner};
      add_tile(tile, column - first, lanes, out + first);
    }
}

/// Adds an (n, inner) array. A few columns are read as many: several rows in parallel.
template <class T>
void add_matrix(const T* data, std::int64_t n, std::int64_t inner, ExactSum* out) {
  if (inner >= lanes) return add_wide(data, n, inner, out);
  const auto together = lanes / std::gcd(lanes, inner), width = inner * together, tall = n / together;
  if (tall > 0) {
    std::vector<ExactSum> wide(static_cast<std::size_t>(width));
    add_wide(data, tall, width, wide.data());
    for (std::int64_t l = 0; l < width; ++l) out[l % inner] += wide[static_cast<std::size_t>(l)];
  }
  for (auto i = tall * width; i < n * inner; ++i) out[i % inner].add(static_cast<double>(data[i]));
}

/// Adds few elements for each of the results first .. last: `lanes` results at a time, at any places.
template <class T>
void add_short(const T* data, const Around& extents, std::int64_t first, std::int64_t last, ExactSum* out) {
  std::int64_t places[lanes];
  for (; first < last; first += lanes) {
    const auto count = std::min(lanes, last - first);
    for (std::int64_t l = 0; l < lanes; ++l) {
      const auto i = first + std::min(l, count - 1);
      places[l] = i / extents.inner * extents.n * extents.inner + i % extents.inner;
    }
    add_tile(Tile<T>{data, extents.n, extents.inner, places}, 0, count, out + first);
  }
}

constexpr std::int64_t product_piece = tile_rows * lanes;
constexpr double smallest_split = 0x1p-900;  // below it a product may have bits below those of float64

/// Computes the products and their errors. Returns whether these are exact.
[[gnu::always_inline]] inline bool split_products(const double* a, const double* b, std::int64_t n, double* products,
                                                  double* rests) {
  std::int64_t fit = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const double product = a[i] * b[i], size = std::abs(product);
    products[i] = product;
    rests[i] = std::fma(a[i], b[i], -product);
    fit &= (size < largest) & ((size >= smallest_split) | (a[i] == 0) | (b[i] == 0));
  }
  return fit != 0;
}
HEATPP_SIMD bool products_of(const double* a, const double* b, std::int64_t n, double* products, double* rests) {
  return split_products(a, b, n, products, rests);
}
HEATPP_SIMD void products_of(const float* a, const float* b, std::int64_t n, double* products) {
  for (std::int64_t i = 0; i < n; ++i) products[i] = static_cast<double>(a[i]) * static_cast<double>(b[i]);
}

/// Adds at most product_piece products to the sums of columns.
void add_columns(double* products, std::int64_t n, ExactSum* columns) {
  const auto rows = (n + lanes - 1) / lanes;
  std::fill(products + n, products + rows * lanes, 0.0);
  add_wide(products, rows, lanes, columns);
}
void add_piece(const float* a, const float* b, std::int64_t n, ExactSum* columns) {
  double products[product_piece];
  products_of(a, b, n, products);
  add_columns(products, n, columns);
}
void add_piece(const double* a, const double* b, std::int64_t n, ExactSum* columns) {
  double products[product_piece], rests[product_piece];
  if (products_of(a, b, n, products, rests)) {
    add_columns(products, n, columns);
    add_columns(rests, n, columns);
  } else {
    for (std::int64_t i = 0; i < n; ++i) columns[0].add_product(a[i], b[i]);
  }
}

}  // namespace

template <class T>
void add_exactly(const T* data, const Around& extents, ExactSum* out) {
  const auto [outer, n, inner] = extents;
  if (outer != 1 && n > 0 && n <= tile_rows && inner > 0 && inner < lanes)
    return at::parallel_for(0, outer, std::max<std::int64_t>(1, worth_a_thread / (n * inner)),
                            [&, inner = inner](std::int64_t first, std::int64_t last) {
                              add_short(data, extents, first * inner, last * inner, out);
                            });
  reduce_middle(
      extents, out,
      [=, inner = inner](std::int64_t first, std::int64_t rows, ExactSum* sums) {
        add_matrix(data + first, rows, inner, sums);
      },
      [](const ExactSum& from, ExactSum& into) { into += from; });
}

template <class T>
void add_products_exactly(const T* a, const T* b, std::int64_t n, ExactSum& out) {
  reduce_middle(
      Around{.n = n}, &out,
      [=](std::int64_t first, std::int64_t count, ExactSum* sum) {
        ExactSum columns[lanes];
        for (const auto end = first + count; first < end; first += product_piece)
          add_piece(a + first, b + first, std::min(product_piece, end - first), columns);
        for (const auto& column : columns) *sum += column;
      },
      [](const ExactSum& from, ExactSum& into) { into += from; });
}

#define HEATPP_INSTANTIATE(T)                                    \
  template void add_exactly(const T*, const Around&, ExactSum*); \
  template void add_products_exactly(const T*, const T*, std::int64_t, ExactSum&);
HEATPP_INSTANTIATE(float)
HEATPP_INSTANTIATE(double)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
