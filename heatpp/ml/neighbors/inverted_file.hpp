#pragma once

#include <heatpp/ml/neighbors/nearest_neighbors.hpp>

namespace heatpp {
namespace ml::detail {
struct Lists;
}

struct InvertedFileOptions {
  std::int64_t n_neighbors = 5;
  std::optional<std::int64_t> n_lists = std::nullopt;  ///< nullopt: the root of the number of rows
  std::int64_t n_probe = 8;                            ///< lists to search; all lists give the exact neighbors
  std::int64_t max_iterations = 10;                    ///< of the k-means that makes the lists
  std::uint64_t seed = 0;                              ///< gives the same lists for any number of ranks
};

/// Approximate nearest neighbors among many rows: each row is in the list of its nearest center, and only the lists
/// with the nearest centers are searched (Sivic, Zisserman 2003; Jegou et al. 2011). Lists are distributed over ranks
/// by size. Distances are Euclidean, from differences in float64.
class InvertedFile {
 public:
  explicit InvertedFile(const InvertedFileOptions& options = {}) : options_(options) {}
  [[nodiscard]] const InvertedFileOptions& options() const { return options_; }

  /// Fits centers to the (samples, features) rows, and moves each row to the rank that has its list. Collective: as
  /// KMeans::fit from k-means||, one all-reduce of 8 bytes for each list, and one exchange of the rows, with 16 bytes
  /// more each; none if rows are replicated. Throws ValueError for options out of range, fewer rows than lists, and
  /// numbers that are not finite.
  InvertedFile& fit(const Rows& x);
  /// Returns the `n_neighbors` nearest rows of the searched lists for each row of `x`, nearest first, the lowest
  /// number first for ties, as NearestNeighbors does; missing ones are -1 at an infinite distance. Collective: an
  /// all-reduce of 8 bytes; each row of `x` goes once to each rank with a list to search, with 8 bytes for each
  /// list, and 16 bytes for each neighbor come back. Replicated rows are shared out among ranks, and the results
  /// gathered. Throws NotFittedError before fit, ValueError for another number of features and numbers that are not
  /// finite.
  [[nodiscard]] Neighbors kneighbors(const Rows& x) const;

  [[nodiscard]] const DNDarray& centers() const;  ///< (lists, features), on every rank
  [[nodiscard]] std::int64_t n_lists() const;     ///< both throw NotFittedError before fit

 private:
  InvertedFileOptions options_;
  std::shared_ptr<const ml::detail::Lists> lists_;
};

}  // namespace heatpp
