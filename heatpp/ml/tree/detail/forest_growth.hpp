#pragma once

#include <heatpp/ml/tree/detail/forest.hpp>

namespace heatpp::ml::detail {

/// A node that may be split.
struct OpenNode {
  std::int64_t tree;  ///< its number among the trees that grow together
  std::int32_t node;
  std::int64_t begin, end;  ///< range of this rank's rows of the tree
  std::int64_t depth;
  std::int64_t tried = 0;  ///< how often features were tried
  std::vector<std::int64_t> sums;
};

/// A tree of a forest, and this rank's rows of it; rows of a node are contiguous.
struct GrowingTree {
  std::int64_t number;
  Trees tree;
  std::vector<Drawn> rows{};
  std::vector<double> gains{};  ///< for each feature
};

/// Grows several trees at once. A level takes messages of up to `message_numbers` numbers.
class ForestGrower {
 public:
  static constexpr std::int64_t message_numbers = std::int64_t{1} << 21;
  struct Data {
    const ForestTask& task;
    const ForestLimits& limits;
    const Bins& bins;
    const BinnedRows& binned;
    const ForestUnits& units;
    const at::Tensor& pairs;  ///< for numbers (gradient, weight), or weights
  };
  explicit ForestGrower(const Data& data) : data_(data) {}
  /// Grows the trees to the end. `flag` becomes the maximum over ranks.
  void grow(std::vector<GrowingTree>& trees, std::int64_t& flag);

 private:
  struct Looked {  // features tried in a node
    std::vector<std::int32_t> features;
    std::int64_t first;  // position of its numbers in the message
    ForestSplit split;
  };
  [[nodiscard]] std::vector<OpenNode> roots(std::vector<GrowingTree>& trees, std::int64_t& flag) const;
  [[nodiscard]] bool may_divide(const OpenNode& node) const;
  [[nodiscard]] std::vector<std::int32_t> features_of(const OpenNode& node, const GrowingTree& tree) const;
  void sum_cells(const std::vector<GrowingTree>& trees, std::span<const OpenNode> nodes,
                 const std::vector<Looked>& looked);
  void find(std::span<const OpenNode> nodes, std::vector<Looked>& looked);
  void refuse_pure(const std::vector<GrowingTree>& trees, std::span<const OpenNode> nodes,
                   std::vector<Looked>& looked) const;
  void divide(std::vector<GrowingTree>& trees, std::span<OpenNode> nodes, const std::vector<Looked>& looked,
              std::vector<OpenNode>& next);
  void write_value(GrowingTree& tree, const OpenNode& node) const;

  Data data_;
  std::vector<std::int64_t> cells_;
};

/// Returns the sums of this rank's rows of a tree.
[[nodiscard]] std::vector<std::int64_t> sums_of(const ForestGrower::Data& data, std::span<const Drawn> rows);

}  // namespace heatpp::ml::detail
