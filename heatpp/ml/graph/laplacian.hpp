#pragma once

#include <heatpp/core/rows.hpp>

// Graphs whose vertices are the rows of a matrix, by HeAT's names.
namespace heatpp::graph {

/// L = D - A for weights A and the diagonal D of their sums, or normalised: D^-1/2 L D^-1/2, or D^-1 L.
enum class LaplacianDefinition { simple, norm_sym, norm_rw };
/// Which rows are neighbours: all, or those whose similarity is beyond a threshold.
enum class LaplacianMode { fully_connected, e_neighbour };
/// Of the threshold: neighbours lie below an upper one, as of distances, and above a lower one, as of similarities.
enum class LaplacianBoundary { upper, lower };

/// The (n, n) similarities of n rows, split as these are.
using Similarity = std::function<DNDarray(const Rows&)>;

struct LaplacianOptions {
  bool weighted = true;  ///< by similarities; else 1 for all neighbours
  LaplacianDefinition definition = LaplacianDefinition::norm_sym;
  LaplacianMode mode = LaplacianMode::fully_connected;
  LaplacianBoundary threshold_key = LaplacianBoundary::upper;
  double threshold_value = 1;
};

struct LaplacianMatrix {
  DNDarray matrix;   ///< (n, n), split as the rows
  DNDarray degrees;  ///< (n,), float64, split as the rows: sums of weights
};

/// The Laplacian of a graph of rows, without edges from a row to itself. Vertices without neighbours have rows and
/// columns of zeros, whatever the definition, so that there are as many eigenvalues 0 as connected parts.
class Laplacian {
 public:
  explicit Laplacian(Similarity similarity, const LaplacianOptions& options = {})
      : similarity_(std::move(similarity)), options_(options) {}
  [[nodiscard]] const LaplacianOptions& options() const { return options_; }

  /// A dense matrix, in the dtype of the similarities. Collective: what these communicate, an
  /// all-reduce of 8 bytes, and for norm_sym an all-gather of 8 bytes a row. Throws ValueError for similarities of
  /// another shape or split, a rank's negative or infinite ones or NaN, or no rows.
  [[nodiscard]] DNDarray construct(const Rows& x) const { return construct_with_degrees(x).matrix; }
  [[nodiscard]] LaplacianMatrix construct_with_degrees(const Rows& x) const;

 private:
  Similarity similarity_;
  LaplacianOptions options_;
};

}  // namespace heatpp::graph
