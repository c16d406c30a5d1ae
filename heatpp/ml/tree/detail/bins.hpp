#pragma once

#include <heatpp/ml/detail/pieces.hpp>

// Bins of numbers, and rows whose numbers are replaced by the numbers of their bins.
namespace heatpp::ml::detail {

inline constexpr std::int64_t most_bins = 255, edge_stride = 256;

/// The edges of each feature's bins, equal on every rank and for any number of ranks. Bin b holds numbers above edge b
/// - 1 and up to edge b; the bin after those of numbers is for NaN.
struct Bins {
  std::int64_t features = 0;
  std::vector<double> edges{};           ///< features x edge_stride, increasing, infinite after the last
  std::vector<double> values{};          ///< features x edge_stride: the number in each bin, if there are few numbers
  std::vector<std::int32_t> count{};     ///< bins of numbers, for each feature
  std::vector<std::uint8_t> apart{};     ///< whether each bin of the feature holds one number
  std::vector<std::uint8_t> missing{};   ///< whether a row has NaN
  std::vector<std::uint8_t> by_set{};    ///< whether numbers are categories, one in each bin; empty: for no feature
  std::vector<std::uint32_t> offsets{};  ///< a feature's first cell among those of all; last the total
  [[nodiscard]] std::int64_t cells() const { return offsets.back(); }
  [[nodiscard]] std::int64_t cells_of(std::int64_t feature) const {
    return offsets[static_cast<std::size_t>(feature) + 1] - offsets[static_cast<std::size_t>(feature)];
  }
  [[nodiscard]] const double* edges_of(std::int64_t feature) const { return edges.data() + feature * edge_stride; }
  [[nodiscard]] const double* values_of(std::int64_t feature) const { return values.data() + feature * edge_stride; }
};

/// Finds edges half way between numbers if a feature has at most `max_bins` distinct ones, else its quantiles at 1 /
/// max_bins, 2 / max_bins .. (the mean of both neighbors between two numbers). If there are more than 200000 rows, as
/// many are sampled by their global positions. Collective: one all-reduce of 8 (features + 1) bytes, an all-gather of
/// 8, an exchange that brings each feature of the sampled rows to one rank, and an all-gather of 2056 bytes a feature;
/// none if rows are replicated. More than 1024 ranks send parcels of 24 bytes for each sampled number, and an
/// all-reduce instead. Each number of a feature in `categories` is a bin; this takes another pass and an all-gather of
/// 8 (max_bins + 2) bytes for each such feature and rank. Throws ValueError naming the first row with an infinite
/// number, or a feature with more categories than bins.
[[nodiscard]] Bins find_bins(const char* op, const Rows& rows, std::int64_t max_bins, std::uint64_t seed,
                             std::span<const std::int64_t> categories = {});

/// Returns a number half way between two numbers, and below the second.
[[nodiscard]] inline double between(double low, double high) {
  const auto middle = low / 2 + high / 2;
  return middle < high ? middle : low;
}

/// The bins of this rank's rows, one byte for each number: by row for sums, and by column for partitions.
struct BinnedRows {
  std::int64_t rows = 0, stride = 0;
  at::Tensor bins, columns;
  [[nodiscard]] const std::uint8_t* data() const { return bins.const_data_ptr<std::uint8_t>(); }
  [[nodiscard]] const std::uint8_t* column(std::int64_t feature) const {
    return columns.const_data_ptr<std::uint8_t>() + feature * rows;
  }
};
/// Finds the bins in one pass. Local; for rows that are not an array's one all-reduce of 8 bytes.
[[nodiscard]] BinnedRows binned(const Rows& rows, const Bins& bins);

// Categories: numbers that are names, without an order.

/// Returns the distinct numbers of some features, in increasing order. Collective: an all-gather of 8 (most + 2) bytes
/// for each feature and rank, none if rows are replicated. Throws ValueError for a feature with more than `most`.
[[nodiscard]] std::vector<std::vector<double>> categories_of(const char* op, const Rows& rows,
                                                             std::span<const std::int64_t> features, std::int64_t most);

/// The categories of each feature, empty for features without categories; empty if no feature has any.
using Categories = std::vector<std::vector<double>>;
[[nodiscard]] Categories categories_in(const Bins& bins);

/// A piece of rows with categories replaced by their positions, and unknown categories by NaN.
template <class T>
[[nodiscard]] std::vector<T> by_position(const Piece<T>& piece, const Categories& categories);

}  // namespace heatpp::ml::detail
