#pragma once

#include <heatpp/ml/tree/detail/histogram.hpp>
#include <heatpp/ml/tree/detail/trees.hpp>

#include <limits>

// A tree of boosting, grown leaf by leaf.
namespace heatpp::ml::detail {

struct GrowthLimits {
  std::int64_t leaves, depth, rows_of_leaf;
  double l2;
  std::vector<std::int64_t> directions{};  ///< for each feature: 1 if values may only rise with it, -1 if only fall
};

/// The range of the values below a node, which keeps predictions monotonic.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};
/// Returns minus the sum of gradients over that of second derivatives, within bounds.
[[nodiscard]] double value_of(const Cell& sums, const Units& units, double l2, const Bounds& bounds);

/// The best split of a node's rows: those up to a bin of a feature, or in a set of categories, and maybe NaN, go
/// left.
struct BoostedSplit {
  double gain = 0;
  std::int32_t feature = -1, bin = 0;
  bool missing_left = false, by_set = false;
  Cell left{};   ///< sums of the rows that go left
  BinSet set{};  ///< the categories that go left
};
/// Finds the best split; for ties that of the lowest feature, then of the lowest bin, with NaN to the right. Categories
/// are sorted by gradient / second derivative (Fisher 1958), and a set is taken from either end, by the rules of
/// scikit-learn: at most half of them, and none with less than 10 rows' second derivatives. Local; the result does not
/// depend on where cells are, since sums are whole numbers.
[[nodiscard]] BoostedSplit best_split(const Bins& bins, const Cell* cells, const Cell& all, const Units& units,
                                      const GrowthLimits& limits, const Bounds& bounds = {});

/// Brings values of leaves in the order that the features' directions require: if values that must be less are more,
/// both sides are bounded by the middle of the largest and the least of them.
void keep_directions(Trees& tree, std::span<const std::int64_t> directions);

/// A leaf and its rows of this rank.
struct GrownLeaf {
  std::int32_t node;
  std::span<const std::uint32_t> rows;
};
struct GrownTree {
  Trees tree;
  std::vector<GrownLeaf> leaves;
};

/// Grows trees for the same rows.
class TreeGrower {
 public:
  TreeGrower(const Rows& rows, const Bins& bins, const BinnedRows& binned, const GrowthLimits& limits);
  /// Grows a tree of this rank's rows `order`, whose pairs are gradients and second derivatives with counts. The
  /// leaf with the largest gain is split next (Friedman 2001; Shi 2007). Values are minus the sum of gradients
  /// over that of second derivatives. For each split the cells of the smaller child are summed over the ranks,
  /// and subtracted from the node's to give the other child's (Ke et al. 2017). Collective: an all-reduce of 24
  /// cells + 8 bytes, and of 24 cells for each further split whose children may be split; none if rows are
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
