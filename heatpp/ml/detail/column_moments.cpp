#include <heatpp/ml/detail/column_moments.hpp>

#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>

#include <cmath>
#include <numeric>

namespace heatpp::ml::detail {
namespace {

/// Sums, and then squares about the means, of a piece, column by column; each of the three arrays has a number for each
/// column.
#define HEATPP_COLUMNS(T)                                                                                              \
  HEATPP_SIMD void sums_of(const Piece<T>& piece, const double* weights, double* __restrict n, double* __restrict s) { \
    for (std::int64_t i = 0; i < piece.rows; ++i) {                                                                    \
      const auto w = weights ? weights[i] : 1.0;                                                                       \
      const auto* __restrict x = piece.row(i);                                                                         \
      for (std::int64_t j = 0; j < piece.features; ++j) {                                                              \
        const bool there = x[j] == x[j];                                                                               \
        n[j] += there ? w : 0.0;                                                                                       \
        s[j] += there ? w * static_cast<double>(x[j]) : 0.0;                                                           \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  HEATPP_SIMD void squares_of(const Piece<T>& piece, const double* weights, const double* __restrict mean,             \
                              double* __restrict m2) {                                                                 \
    for (std::int64_t i = 0; i < piece.rows; ++i) {                                                                    \
      const auto w = weights ? weights[i] : 1.0;                                                                       \
      const auto* __restrict x = piece.row(i);                                                                         \
      for (std::int64_t j = 0; j < piece.features; ++j) {                                                              \
        const auto d = static_cast<double>(x[j]) - mean[j];                                                            \
        m2[j] += x[j] == x[j] ? w * d * d : 0.0;                                                                       \
      }                                                                                                                \
    }                                                                                                                  \
  }
HEATPP_COLUMNS(float)
HEATPP_COLUMNS(double)
#undef HEATPP_COLUMNS

template <class T>
void merge_piece(const Piece<T>& piece, const double* weights, std::span<Moments> moments) {
  const auto f = moments.size();
  std::vector<double> buffer(3 * f, 0.0);
  auto *n = buffer.data(), *mean = n + f, *m2 = mean + f;
  sums_of(piece, weights, n, mean);
  for (std::size_t j = 0; j < f; ++j) mean[j] = n[j] > 0 ? mean[j] / n[j] : 0;
  squares_of(piece, weights, mean, m2);
  for (std::size_t j = 0; j < f; ++j) moments[j].merge({n[j], mean[j], m2[j]});
}

/// Adds entries only, one by one; `named` is the weight of the rows that have an entry in the column.
template <class T>
void merge_entries(const SparsePiece<T>& piece, const double* weights, std::span<Moments> moments, double* named) {
  for (std::int64_t i = 0; i < piece.rows; ++i) {
    const auto w = weights ? weights[i] : 1.0;
    for (auto e = piece.ptr[i]; w > 0 && e < piece.ptr[i + 1]; ++e) {
      const auto column = static_cast<std::size_t>(piece.columns[e]);
      const auto x = static_cast<double>(piece.values[e]);
      named[column] += w;
      if (!std::isnan(x)) moments[column].merge({w, x, 0});
    }
  }
}

/// The sums of one thread.
struct Seen {
  std::vector<Moments> moments;
  std::vector<double> named = {};  ///< for sparse rows
  double weight = 0;               ///< of sparse rows
  template <class T>
  void add(const Piece<T>& piece, const double* weights) {
    merge_piece(piece, weights, moments);
  }
  template <class T>
  void add(const SparsePiece<T>& piece, const double* weights) {
    named.resize(moments.size(), 0);
    merge_entries(piece, weights, moments, named.data());
    weight += weights ? std::accumulate(weights, weights + piece.rows, 0.0) : static_cast<double>(piece.rows);
  }
  /// Returns the moments with the zeros that have no entry.
  [[nodiscard]] std::vector<Moments> all() && {
    for (std::size_t j = 0; j < named.size(); ++j) moments[j].merge({weight - named[j], 0, 0});
    return std::move(moments);
  }
};

void merge_records(const void* in, void* inout, std::int64_t n) {
  const auto* a = static_cast<const Moments*>(in);
  auto* b = static_cast<Moments*>(inout);
  for (std::int64_t i = 0; i < n; ++i) b[i].merge(a[i]);
}

}  // namespace

void Moments::merge(const Moments& other) {
  if (!(other.n > 0)) return;
  if (!(n > 0)) {  // without rows, `mean` may be so large that its square overflows
    *this = other;
    return;
  }
  const auto total = n + other.n, difference = other.mean - mean;
  mean += difference * (other.n / total);
  m2 += other.m2 + difference * difference * (n * (other.n / total));
  n = total;
}

std::vector<Moments> merged_over_ranks(const Rows& rows, const std::vector<std::vector<Moments>>& of_thread,
                                       const std::optional<Communicator::Failure>& failure) {
  auto total = of_thread[0];
  for (std::size_t t = 1; t < of_thread.size(); ++t)
    for (std::size_t j = 0; j < total.size(); ++j) total[j].merge(of_thread[t][j]);
  total.push_back({failure ? 1.0 : 0.0});
  if (rows.distributed())
    rows.comm().allreduce_records(total.data(), std::ssize(total), sizeof(Moments), &merge_records);
  if (total.back().n > 0) rows.comm().agree(failure);
  total.pop_back();
  return total;
}

std::vector<Moments> column_moments(const char* op, const Rows& rows, const double* weights, Missing missing) {
  const auto features = static_cast<std::size_t>(rows.features());
  std::vector<Seen> seen(threads(), Seen{std::vector<Moments>(features)});
  const auto failure = heatpp::detail::failure_of([&] {
    for_stored(rows, [&](const auto& piece, int thread) {
      check_finite(op, rows, piece, missing);
      seen[static_cast<std::size_t>(thread)].add(piece, weights ? weights + piece.first : nullptr);
    });
  });
  std::vector<std::vector<Moments>> of_thread;
  for (auto& one : seen) of_thread.push_back(std::move(one).all());
  return merged_over_ranks(rows, of_thread, failure);
}

}  // namespace heatpp::ml::detail
