#pragma once

#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/detail/state.hpp>

// What trees have learnt: small, and the same on every rank.
namespace heatpp::ml::detail {

/// Rows with a number up to the threshold go to child `left`, those above it to left + 1; a leaf has no feature.
struct TreeNode {
  double threshold = 0;
  std::int32_t feature = -1, left = -1;
  std::int32_t bin = 0;       ///< of the threshold
  bool missing_left = false;  ///< where NaN goes
  [[nodiscard]] bool leaf() const { return feature < 0; }
};

/// Trees behind one another; each node has as many values as a row is told.
struct Trees {
  std::int64_t outputs = 1;
  std::vector<TreeNode> nodes{};
  std::vector<double> values{};       ///< nodes x outputs
  std::vector<std::int64_t> roots{};  ///< the first node of each tree
  [[nodiscard]] std::int64_t size() const { return std::ssize(roots); }
  [[nodiscard]] const double* value(std::int64_t node) const { return values.data() + node * outputs; }
  /// A new node, a leaf. Returns its number.
  std::int32_t add();
  /// Puts the trees of `other` behind these.
  void append(const Trees& other);
  [[nodiscard]] std::int64_t end_of(std::int64_t tree) const {
    return tree + 1 < size() ? roots[static_cast<std::size_t>(tree) + 1] : std::ssize(nodes);
  }
  /// Levels below the root, and leaves.
  [[nodiscard]] std::int64_t depth(std::int64_t tree) const;
  [[nodiscard]] std::int64_t leaves(std::int64_t tree) const;

  /// Calls f(row, values of the leaf of tree `tree`) for all rows of a piece.
  template <class T, class F>
  void visit(std::int64_t tree, const Piece<T>& piece, F f) const {
    const auto root = roots[static_cast<std::size_t>(tree)];
    for (std::int64_t i = 0; i < piece.rows; ++i) f(i, value(leaf_of(root, piece.row(i))));
  }
  template <class T>
  [[nodiscard]] std::int64_t leaf_of(std::int64_t root, const T* row) const {
    auto at = root;
    while (!nodes[static_cast<std::size_t>(at)].leaf()) {
      const auto& node = nodes[static_cast<std::size_t>(at)];
      const auto x = static_cast<double>(row[node.feature]);
      const bool left = x <= node.threshold || (x != x && node.missing_left);
      at = node.left + (left ? 0 : 1);
    }
    return at;
  }
  /// The same of a row's bins, of which those behind the last of `count` numbers are NaN.
  [[nodiscard]] std::int64_t leaf_of_bins(std::int64_t root, const std::uint8_t* bins,
                                          const std::int32_t* count) const {
    auto at = root;
    while (!nodes[static_cast<std::size_t>(at)].leaf()) {
      const auto& node = nodes[static_cast<std::size_t>(at)];
      const auto bin = bins[node.feature];
      const bool left = bin == count[node.feature] ? node.missing_left : bin <= node.bin;
      at = node.left + (left ? 0 : 1);
    }
    return at;
  }
};

/// As arrays of a model's state, and back. Reading throws ValueError for nodes that make no trees of so many features,
/// and values of another number of outputs; it is collective where arrays are split.
void write_trees(const Trees& trees, const Communicator& comm, ModelState& state);
[[nodiscard]] Trees read_trees(const StateReader& read, std::int64_t features);

/// An array (samples, columns) of rows in the working dtype, cut as these: f(piece, out) writes float64 numbers. NaN is
/// a number as any. Local for arrays.
template <class F>
[[nodiscard]] DNDarray predicted(const Rows& rows, std::int64_t columns, F f) {
  return mapped(rows, columns, [&](const at::Tensor& block) {
    auto out = at::zeros({block.size(0), columns}, at::kDouble);
    with_piece(block, 0, [&](const auto& piece) { f(piece, out.mutable_data_ptr<double>()); });
    return out;
  });
}

}  // namespace heatpp::ml::detail
