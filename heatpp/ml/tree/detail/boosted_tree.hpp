#pragma once

#include <heatpp/ml/tree/detail/histogram.hpp>
#include <heatpp/ml/tree/detail/trees.hpp>

#include <limits>

// A tree of gradients, leaf by leaf.
namespace heatpp::ml::detail {

struct GrowthLimits {
  std::int64_t leaves, depth, rows_of_leaf;
  double l2;
  std::vector<std::int64_t> directions{};  ///< of each feature: 1 if values may only rise with it, -1 if only fall
};

/// What the values below a node lie between, so that those of others may rise or fall as they have to.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};
/// Minus the sum of gradients over that of second derivatives, within bounds.
[[nodiscard]] double value_of(const Cell& sums, const Units& units, double l2, const Bounds& bounds);

/// What divides the rows of a node best: those up to a bin of a feature, or those of a set of categories, and perhaps
/// NaN, from the others.
struct BoostedSplit {
  double gain = 0;
  std::int32_t feature = -1, bin = 0;
  bool missing_left = false, by_set = false;
  Cell left{};   ///< of the rows that go left
  BinSet set{};  ///< that goes left
};
/// Of several as good that of the lowest feature, then of the lowest bin, NaN going right. Categories are put in the
/// order of their gradient for each second derivative (Fisher 1958), and those of either end form the set, by
/// scikit-learn's rules: half of them at most, and none with less than 10 rows' second derivatives. Local, the same
/// wherever cells are: sums are whole numbers.
[[nodiscard]] BoostedSplit best_split(const Bins& bins, const Cell* cells, const Cell& all, const Units& units,
                                      const GrowthLimits& limits, const Bounds& bounds = {});

/// Brings values of leaves between those of others where a feature's direction asks for it: where those that are to be
/// less are more, both get the middle (of the largest and the least of them) as their bound.
void keep_directions(Trees& tree, std::span<const std::int64_t> directions);

/// A leaf of this rank's rows.
struct GrownLeaf {
  std::int32_t node;
  std::span<const std::uint32_t> rows;
};
struct GrownTree {
  Trees tree;
  std::vector<GrownLeaf> leaves;
};

/// Grows trees of the same rows.
class TreeGrower {
 public:
  TreeGrower(const Rows& rows, const Bins& bins, const BinnedRows& binned, const GrowthLimits& limits);
  /// Of this rank's rows `order`, whose pairs are gradients and second derivatives with counts: the leaf whose
  /// division gains most is divided next (Friedman 2001; Shi 2007). Values are minus the sum of gradients over that of
  /// second derivatives. For each node that is divided the cells of its smaller child are summed over the ranks, the
  /// other child's are what is left of the node's (Ke et al. 2017). Collective: an all-reduce of 24 cells + 8 bytes,
  /// and of 24 cells for each further node that is divided and has children that may be; none where rows are
  /// replicated.
  [[nodiscard]] GrownTree grow(const at::Tensor& pairs, std::span<std::uint32_t> order, const Units& units,
                               heatpp::detail::Watch& watch);

 private:
  struct Leaf {
    std::int32_t node;
    std::int64_t begin, end, depth;
    Cell sums;
    at::Tensor cells;
    BoostedSplit split;
    Bounds bounds{};
  };
  [[nodiscard]] at::Tensor new_cells();
  void release(Leaf& leaf);
  void sum_cells(const Leaf& leaf, const at::Tensor& cells, std::int64_t* flag);
  [[nodiscard]] bool may_divide(const Leaf& leaf) const;
  void find(Leaf& leaf);
  [[nodiscard]] std::pair<Leaf, Leaf> divide(Leaf& leaf);
  void bound(const Leaf& parent, Leaf& left, Leaf& right) const;
  void learn_cells(Leaf& parent, Leaf& left, Leaf& right);
  void write_value(const Leaf& leaf);

  const Rows& rows_;
  const Bins& bins_;
  const BinnedRows& binned_;
  GrowthLimits limits_;
  std::vector<at::Tensor> free_;
  std::vector<std::uint32_t> spare_;
  std::vector<Pair> room_;
  const Pair* pairs_ = nullptr;
  std::span<std::uint32_t> order_;
  Units units_;
  Trees tree_;
};

}  // namespace heatpp::ml::detail
