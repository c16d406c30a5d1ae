#pragma once

#include <heatpp/ml/neighbors/nearest_neighbors.hpp>

namespace heatpp {
namespace ml::detail {
struct Lists;
}

struct InvertedFileOptions {
  std::int64_t n_neighbors = 5;
  std::optional<std::int64_t> n_lists = std::nullopt;  ///< nullopt: the root of the number of rows
  std::int64_t n_probe = 8;                            ///< lists that are searched; all: the exact neighbours
  std::int64_t max_iterations = 10;                    ///< of the k-means that makes the lists
  std::uint64_t seed = 0;                              ///< the same lists for any number of ranks
};

/// The nearest of many rows, nearly: rows are put into lists by the nearest of some centres, and only the lists whose
/// centres are nearest are searched (Sivic, Zisserman 2003; Jegou et al. 2011). Lists are dealt to the ranks by size.
/// Distances are Euclidean, from differences in float64.
class InvertedFile {
 public:
  explicit InvertedFile(const InvertedFileOptions& options = {}) : options_(options) {}
  [[nodiscard]] const InvertedFileOptions& options() const { return options_; }

  /// Learns centres from the (samples, features) rows, and keeps each row on the rank that has its list. Collective:
  /// as KMeans::fit from k-means||, one all-reduce of 8 bytes for each list, and one exchange of the rows, with 16
  /// bytes more each; none where rows are replicated. Throws ValueError for options out of range, fewer rows than
  /// lists, and numbers that are not finite.
  InvertedFile& fit(const Rows& x);
  /// The `n_neighbors` nearest rows of the lists that are searched for each row of `x`, nearest first, of several as
  /// near the lowest first, as NearestNeighbors has them; where these have fewer, -1 at an infinite distance.
  /// Collective: an all-reduce of 8 bytes; each row that asks goes once to each rank with a list to search, with 8
  /// bytes for each list, and 16 bytes for each neighbour come back. Rows that all ranks have are shared out, and the
  /// results gathered. Throws NotFittedError before fit, ValueError for another number of features and numbers that are
  /// not finite.
  [[nodiscard]] Neighbors kneighbors(const Rows& x) const;

  [[nodiscard]] const DNDarray& centers() const;  ///< (lists, features), on every rank
  [[nodiscard]] std::int64_t n_lists() const;     ///< both throw NotFittedError before fit

 private:
  InvertedFileOptions options_;
  std::shared_ptr<const ml::detail::Lists> lists_;
};

}  // namespace heatpp
