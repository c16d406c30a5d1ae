#pragma once

#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/detail/state.hpp>

#include <array>

// Fitted trees: small, and equal on every rank.
namespace heatpp::ml::detail {

/// A set of bins of a feature, or of its categories by their positions.
using BinSet = std::array<std::uint64_t, 4>;
[[nodiscard]] inline bool holds(const BinSet& set, std::size_t bin) { return ((set[bin / 64] >> (bin % 64)) & 1) != 0; }
inline void insert(BinSet& set, std::size_t bin) { set[bin / 64] |= std::uint64_t{1} << (bin % 64); }

/// A node: rows with a number up to the threshold, or with a category of a set, go to child `left`, others to left + 1;
/// a leaf has no feature.
struct TreeNode {
  double threshold = 0;
  std::int32_t feature = -1, left = -1;
  std::int32_t bin = 0;       ///< of the threshold; for categories the number of their set
  bool missing_left = false;  ///< whether NaN goes left
  bool by_set = false;
  [[nodiscard]] bool leaf() const { return feature < 0; }
};

/// Throws ValueError for more nodes than 32 bits can number.
void check_nodes(std::int64_t nodes);

/// Several trees in common arrays; each node has one value for each output.
struct Trees {
  std::int64_t outputs = 1;
  std::vector<TreeNode> nodes{};
  std::vector<double> values{};       ///< nodes x outputs
  std::vector<std::int64_t> roots{};  ///< the first node of each tree
  std::vector<BinSet> sets{};         ///< the categories that go left at categorical nodes
  [[nodiscard]] std::int64_t size() const { return std::ssize(roots); }
  [[nodiscard]] const double* value(std::int64_t node) const { return values.data() + node * outputs; }
  /// Adds a node, a leaf, and returns its number.
  std::int32_t add();
  /// Appends the trees of `other`.
  void append(const Trees& other);
  [[nodiscard]] std::int64_t end_of(std::int64_t tree) const {
    return tree + 1 < size() ? roots[static_cast<std::size_t>(tree) + 1] : std::ssize(nodes);
  }
  /// Return the number of levels below the root, and of leaves.
  [[nodiscard]] std::int64_t depth(std::int64_t tree) const;
  [[nodiscard]] std::int64_t leaves(std::int64_t tree) const;

  /// Calls f(row, values of its leaf of tree `tree`) for all rows of a piece, whose categories are positions.
  template <class T, class F>
  void visit(std::int64_t tree, const Piece<T>& piece, F f) const {
    const auto root = roots[static_cast<std::size_t>(tree)];
    if (sets.empty())
      for (std::int64_t i = 0; i < piece.rows; ++i) f(i, value(leaf_of<false>(root, piece.row(i))));
    else
      for (std::int64_t i = 0; i < piece.rows; ++i) f(i, value(leaf_of<true>(root, piece.row(i))));
  }
  template <bool with_sets, class T>
  [[nodiscard]] std::int64_t leaf_of(std::int64_t root, const T* row) const {
    auto at = root;
    while (!nodes[static_cast<std::size_t>(at)].leaf()) {
      const auto& node = nodes[static_cast<std::size_t>(at)];
      const auto x = static_cast<double>(row[node.feature]);
      bool left = x <= node.threshold || (x != x && node.missing_left);
      if constexpr (with_sets)
        if (node.by_set) left = x != x ? node.missing_left : holds(set_of(node), static_cast<std::size_t>(x));
      at = node.left + (left ? 0 : 1);
    }
    return at;
  }
  /// Returns the leaf for a row's bins; bins after the last of `count` numbers are NaN.
  [[nodiscard]] std::int64_t leaf_of_bins(std::int64_t root, const std::uint8_t* bins,
                                          const std::int32_t* count) const {
    auto at = root;
    while (!nodes[static_cast<std::size_t>(at)].leaf()) {
      const auto& node = nodes[static_cast<std::size_t>(at)];
      const auto bin = bins[node.feature];
      const bool number_left = node.by_set ? holds(set_of(node), bin) : bin <= node.bin;
      at = node.left + ((bin == count[node.feature] ? node.missing_left : number_left) ? 0 : 1);
    }
    return at;
  }
  [[nodiscard]] const BinSet& set_of(const TreeNode& node) const { return sets[static_cast<std::size_t>(node.bin)]; }
};

/// Write trees to a model's state, and read them. Reading throws ValueError for nodes that form no trees of this number
/// of features, and values of another number of outputs; it is collective if arrays are split.
void write_trees(const Trees& trees, const Communicator& comm, ModelState& state);
[[nodiscard]] Trees read_trees(const StateReader& read, std::int64_t features);

/// Returns the numbers of a replicated array.
[[nodiscard]] std::vector<double> numbers_from(const DNDarray& x);

/// Returns an array (samples, columns) of rows in the working dtype, cut as the rows: f(piece, out) writes float64
/// numbers. NaN is allowed. Local for arrays.
template <class F>
[[nodiscard]] DNDarray predicted(const Rows& rows, std::int64_t columns, F f) {
  return mapped(rows, columns, [&](const at::Tensor& block) {
    auto out = at::zeros({block.size(0), columns}, at::kDouble);
    with_piece(block, 0, [&](const auto& piece) { f(piece, out.mutable_data_ptr<double>()); });
    return out;
  });
}

}  // namespace heatpp::ml::detail
