#include <heatpp/ml/detail/nearest.hpp>

#include <heatpp/core/detail/simd.hpp>

#include <limits>

namespace heatpp::ml::detail {
namespace {

/// A vector register of centers side by side, and labels of equal size (4 or 8 bytes) for comparisons.
template <class T, int bytes>
struct Lanes {
  using Integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef T Vector __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  typedef Integer Numbers __attribute__((vector_size(bytes)));
  static constexpr std::int64_t count = bytes / sizeof(T);
};

template <class T>
struct Table {
  const T *origin, *columns, *half_norms;
  std::int64_t features, padded;
};

/// Exchanges the lanes whose numbers differ by `step`, a power of 2.
template <class L, class V>
[[gnu::always_inline]] inline V exchanged(V v, [[maybe_unused]] const typename L::Numbers& numbers, int step) {
#ifdef __clang__
  V other;
  for (int l = 0; l < L::count; ++l) other[l] = v[l ^ step];
  return other;
#else
  return __builtin_shuffle(v, numbers ^ step);
#endif
}

/// Spreads the least number of a register to all lanes; `apart` 2: that of even lanes and that of odd ones.
template <class L, int apart = 1, class V>
[[gnu::always_inline]] inline V least_of_lanes(V v, const typename L::Numbers& numbers) {
#pragma GCC unroll 4
  for (int step = static_cast<int>(L::count / 2); step >= apart; step /= 2) {
    const V other = exchanged<L>(v, numbers, step);
    v = other < v ? other : v;
  }
  return v;
}

/// Finds the nearest of all centers for `rows` rows, whose differences from the origin are in x; works on `vectors`
/// registers of centers at a time.
template <class T, int bytes, int rows, int vectors>
[[gnu::always_inline]] inline void nearest_of(const Table<T>& table, const T* x, std::int32_t* labels) {
  using L = Lanes<T, bytes>;
  typename L::Vector best[rows];
  typename L::Numbers which[rows], numbers;
  for (int l = 0; l < L::count; ++l) numbers[l] = l;
  for (int r = 0; r < rows; ++r)
    best[r] = typename L::Vector{} + std::numeric_limits<T>::infinity(), which[r] = numbers;
  for (std::int64_t first = 0; first < table.padded; first += vectors * L::count) {
    typename L::Vector score[rows][vectors];
    for (int v = 0; v < vectors; ++v)
      for (int r = 0; r < rows; ++r)
        score[r][v] = *reinterpret_cast<const typename L::Vector*>(table.half_norms + first + v * L::count);
    for (std::int64_t j = 0; j < table.features; ++j)
      for (int v = 0; v < vectors; ++v) {
        const auto c =
            *reinterpret_cast<const typename L::Vector*>(table.columns + j * table.padded + first + v * L::count);
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) score[r][v] -= x[r * table.features + j] * c;
      }
    for (int v = 0; v < vectors; ++v)
      for (int r = 0; r < rows; ++r) {
        const auto at = numbers + static_cast<typename L::Integer>(first + v * L::count);
        const auto less = score[r][v] < best[r];
        best[r] = less ? score[r][v] : best[r];
        which[r] = less ? at : which[r];
      }
  }
  for (int r = 0; r < rows; ++r) {
    const auto least = least_of_lanes<L>(best[r], numbers);
    const auto none = typename L::Numbers{} + std::numeric_limits<typename L::Integer>::max();
    labels[r] = static_cast<std::int32_t>(least_of_lanes<L>(best[r] == least ? which[r] : none, numbers)[0]);
  }
}

/// Finds the nearest centers for the rows of a piece; `scratch` holds `rows` of them about the origin.
template <class T, int bytes, int rows, int vectors>
[[gnu::always_inline]] inline void nearest_in(const Table<T>& table, const Piece<T>& piece, T* scratch,
                                              std::int32_t* labels) {
  for (std::int64_t i = 0; i < piece.rows; i += rows) {
    const auto some = std::min<std::int64_t>(rows, piece.rows - i);
    for (std::int64_t r = 0; r < some; ++r)
      for (std::int64_t j = 0; j < table.features; ++j)
        scratch[r * table.features + j] = piece.row(i + r)[j] - table.origin[j];
    std::int32_t found[rows];
    nearest_of<T, bytes, rows, vectors>(table, scratch, found);
    std::copy_n(found, some, labels + i);
  }
}

#define HEATPP_NEAREST(T, target, name, bytes, rows, vectors)                                        \
  target void name(const Table<T>& table, const Piece<T>& piece, T* scratch, std::int32_t* labels) { \
    nearest_in<T, bytes, rows, vectors>(table, piece, scratch, labels);                              \
  }
HEATPP_NEAREST(float, HEATPP_SIMD, few, 32, 8, 1)
HEATPP_NEAREST(double, HEATPP_SIMD, few, 32, 8, 1)
HEATPP_NEAREST(float, HEATPP_SIMD, many, 32, 4, 2)
HEATPP_NEAREST(double, HEATPP_SIMD, many, 32, 4, 2)
#if defined(__x86_64__) && defined(__gnu_linux__)
HEATPP_NEAREST(float, __attribute__((target("arch=x86-64-v4"))), wide, 64, 8, 2)
HEATPP_NEAREST(double, __attribute__((target("arch=x86-64-v4"))), wide, 64, 8, 2)

/// Finds the nearest of up to 8 centers, two features at a time: each center and feature has a lane, so that one load
/// spreads a pair of a row's numbers over a register. `table` and `x` have features in pairs, padded with 0.
template <int rows>
[[gnu::always_inline]] inline void nearest_of_pairs(const Table<float>& table, const float* x, std::int32_t* labels) {
  using L = Lanes<float, 64>;
  typedef double Pair __attribute__((aligned(4), may_alias));
  typedef double Pairs __attribute__((vector_size(64)));
  const auto pairs = (table.features + 1) / 2;
  L::Vector score[rows];
  L::Numbers numbers;
  for (int l = 0; l < L::count; ++l) numbers[l] = l;
  for (int r = 0; r < rows; ++r) score[r] = *reinterpret_cast<const L::Vector*>(table.half_norms);
  for (std::int64_t p = 0; p < pairs; ++p) {
    const auto c = *reinterpret_cast<const L::Vector*>(table.columns + p * L::count);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const double pair = *reinterpret_cast<const Pair*>(x + 2 * (r * pairs + p));
      score[r] -= reinterpret_cast<L::Vector>(Pairs{pair, pair, pair, pair, pair, pair, pair, pair}) * c;
    }
  }
  for (int r = 0; r < rows; r += 2) {  // the row in the even lanes, the next one in the odd ones
    const L::Vector row = score[r] + exchanged<L>(score[r], numbers, 1);
    const L::Vector next = score[r + 1] + exchanged<L>(score[r + 1], numbers, 1);
    const L::Vector both = (numbers & 1) == 0 ? row : next;
    const auto none = L::Numbers{} + std::numeric_limits<std::int32_t>::max();
    const auto nearest =
        least_of_lanes<L, 2>(both == least_of_lanes<L, 2>(both, numbers) ? numbers / 2 : none, numbers);
    labels[r] = nearest[0];
    labels[r + 1] = nearest[1];
  }
}

__attribute__((target("arch=x86-64-v4"))) void by_pairs(const Table<float>& table, const Piece<float>& piece,
                                                        float* __restrict scratch, std::int32_t* labels) {
  constexpr std::int64_t rows = 8;
  const auto stride = (table.features + 1) / 2 * 2;
  for (std::int64_t i = 0; i < piece.rows; i += rows) {
    const auto some = std::min<std::int64_t>(rows, piece.rows - i);
    for (std::int64_t r = 0; r < some; ++r)
      for (std::int64_t j = 0; j < table.features; ++j) scratch[r * stride + j] = piece.row(i + r)[j] - table.origin[j];
    std::int32_t found[rows];
    nearest_of_pairs<rows>(table, scratch, found);
    std::copy_n(found, some, labels + i);
  }
}
bool has_wide() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
#else
constexpr auto wide = [](const auto& table, const auto& piece, auto* scratch, std::int32_t* labels) {
  many(table, piece, scratch, labels);
};
void by_pairs(const Table<float>&, const Piece<float>&, float*, std::int32_t*) {}
bool has_wide() { return false; }
#endif

#undef HEATPP_NEAREST

/// Compares rows with one register of centers at a time, or with several.
template <class T>
constexpr std::int64_t few_centers = 32 / sizeof(T);

/// Whether to compare few centers by pairs of features, in separate lanes.
template <class T>
bool in_pairs() {
  return sizeof(T) == 4 && has_wide();
}

/// Returns (features, 8) centers with the features in pairs: (features / 2, 8, 2), padded with 0.
template <class T>
std::vector<T> paired(const std::vector<T>& columns) {
  constexpr std::size_t k = 8;
  const auto features = columns.size() / k;
  std::vector<T> pairs((features + 1) / 2 * 2 * k, T{0});
  for (std::size_t j = 0; j < features; ++j)
    for (std::size_t i = 0; i < k; ++i) pairs[j / 2 * 2 * k + 2 * i + j % 2] = columns[j * k + i];
  return pairs;
}

}  // namespace

template <class T>
Centers<T>::Centers(const at::Tensor& centers) : count_(centers.size(0)), features_(centers.size(1)) {
  const auto block =
      count_ <= few_centers<T> ? few_centers<T> : static_cast<std::int64_t>((has_wide() ? 128 : 64) / sizeof(T));
  padded_ = (count_ + block - 1) / block * block;
  lanes_ = block;
  origin_.resize(static_cast<std::size_t>(features_));
  columns_.assign(static_cast<std::size_t>(features_ * padded_), T{0});
  half_norms_.assign(static_cast<std::size_t>(padded_), std::numeric_limits<T>::infinity());  // padding never wins
  const auto table = centers.contiguous(), mean = table.mean(0).contiguous();
  for (std::int64_t j = 0; j < features_; ++j)
    origin_[static_cast<std::size_t>(j)] = static_cast<T>(mean.const_data_ptr<double>()[j]);
  const auto* c = table.template const_data_ptr<double>();
  for (std::int64_t i = 0; i < count_; ++i) {
    double norm = 0;
    for (std::int64_t j = 0; j < features_; ++j) {
      const auto value =
          static_cast<T>(c[i * features_ + j] - static_cast<double>(origin_[static_cast<std::size_t>(j)]));
      columns_[static_cast<std::size_t>(j * padded_ + i)] = value;
      norm += static_cast<double>(value) * static_cast<double>(value);
    }
    half_norms_[static_cast<std::size_t>(i)] = static_cast<T>(norm / 2);
  }
  if (lanes_ == few_centers<T> && in_pairs<T>()) {
    columns_ = paired(columns_);
    half_norms_ = paired(half_norms_);
  }
}

template <class T>
void Centers<T>::nearest(const Piece<T>& piece, std::int32_t* labels) const {
  const Table<T> table{origin_.data(), columns_.data(), half_norms_.data(), features_, padded_};
  std::vector<T> scratch(static_cast<std::size_t>(8 * (features_ + 1)), T{0});
  if constexpr (std::is_same_v<T, float>)
    if (lanes_ == few_centers<T> && in_pairs<T>()) return by_pairs(table, piece, scratch.data(), labels);
  if (lanes_ == few_centers<T>) few(table, piece, scratch.data(), labels);
  else if (has_wide()) wide(table, piece, scratch.data(), labels);
  else many(table, piece, scratch.data(), labels);
}

NearestCenters::NearestCenters(const at::Tensor& centers, Dtype working_dtype)
    : places_(centers.contiguous()),
      centers_(working_dtype == float32 ? decltype(centers_)(Centers<float>(centers))
                                        : decltype(centers_)(Centers<double>(centers))) {}

NearestCenters::NearestCenters(const at::Tensor& centers, const Rows& rows)
    : NearestCenters(sparse_rows(rows) ? centers.slice(0, 0, 0) : centers, working_dtype(rows)) {
  if (sparse_rows(rows)) centers_ = SparseCenters(centers);
}

template class Centers<float>;
template class Centers<double>;

}  // namespace heatpp::ml::detail
