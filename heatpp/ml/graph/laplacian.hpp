#pragma once

#include <heatpp/core/rows.hpp>

// Graphs whose vertices are the rows of a matrix, with HeAT's names.
namespace heatpp::graph {

/// L = D - A for weights A and the diagonal D of their sums, or normalized: D^-1/2 L D^-1/2, or D^-1 L.
enum class LaplacianDefinition { simple, norm_sym, norm_rw };
/// Which rows are neighbors: all, or those whose similarity is beyond a threshold.
enum class LaplacianMode { fully_connected, e_neighbour };
/// The kind of threshold: neighbors lie below an upper one (distances), or above a lower one (similarities).
enum class LaplacianBoundary { upper, lower };

/// Returns the (n, n) similarities of n rows, split as the rows.
using Similarity = std::function<DNDarray(const Rows&)>;

struct LaplacianOptions {
  bool weighted = true;  ///< by similarities; false: weight 1 for all neighbors
  LaplacianDefinition definition = LaplacianDefinition::norm_sym;
  LaplacianMode mode = LaplacianMode::fully_connected;
  LaplacianBoundary threshold_key = LaplacianBoundary::upper;
  double threshold_value = 1;
};

struct LaplacianMatrix {
  DNDarray matrix;   ///< (n, n), split as the rows
  DNDarray degrees;  ///< (n,), float64, split as the rows: sums of weights
};

/// The Laplacian of a graph of rows, without edges from a row to itself. Vertices without neighbors have rows and
/// columns of zeros in all definitions, so that the number of eigenvalues 0 is that of connected parts.
class Laplacian {
 public:
  explicit Laplacian(Similarity similarity, const LaplacianOptions& options = {})
      : similarity_(std::move(similarity)), options_(options) {}
  [[nodiscard]] const LaplacianOptions& options() const { return options_; }

  /// Returns a dense matrix, in the dtype of the similarities. Collective: what the similarities communicate, an
  /// all-reduce of 8 bytes, and for norm_sym an all-gather of 8 bytes a row. Throws ValueError for similarities of
  /// another shape or split, negative or infinite ones or NaN on any rank, or no rows.
  [[nodiscard]] DNDarray construct(const Rows& x) const { return construct_with_degrees(x).matrix; }
  [[nodiscard]] LaplacianMatrix construct_with_degrees(const Rows& x) const;

 private:
  Similarity similarity_;
  LaplacianOptions options_;
};

}  // namespace heatpp::graph
