#pragma once

#include <heatpp/ml/detail/pieces.hpp>

// Quantiles over all ranks of numbers in groups.
namespace heatpp::ml::detail {

/// Numbers of this rank, and their weights as whole numbers, group by group; as many groups on every rank.
class Groups {
 public:
  struct Item {
    std::uint64_t key;  ///< which orders as the number does
    std::int64_t weight;
  };
  /// All weigh 1, or have weights of together at most `total_weight` on all ranks.
  explicit Groups(std::optional<double> total_weight = std::nullopt);
  /// Adds a number to the last group.
  void add(double number, double weight);
  /// The next number begins a group.
  void end() { ends_.push_back(items_.size()); }
  [[nodiscard]] bool weighted() const { return weighted_; }
  [[nodiscard]] std::size_t count() const { return ends_.size(); }
  [[nodiscard]] std::size_t begin_of(std::size_t group) const { return group == 0 ? 0 : ends_[group - 1]; }
  [[nodiscard]] std::size_t end_of(std::size_t group) const { return ends_[group]; }
  [[nodiscard]] std::span<Item> items() { return items_; }

 private:
  bool weighted_;
  double unit_;
  std::vector<Item> items_;
  std::vector<std::size_t> ends_;
};

/// For each group the number at `share` of it: between two linearly, as NumPy's quantile, if all weigh 1, and else the
/// least number up to which so large a share of the weight lies, as scikit-learn has it for its losses; 0 for groups
/// without weight. Found by the digits of the numbers, from the first: those that share the digits found so far are
/// counted by the next one. Exact but for weights, which are rounded to 2^-61 of their total, so that results have the
/// same bits on any number of ranks. Collective: for each of the 64 / d digits of d bits one all-reduce of 8 groups 2^d
/// bytes, d of 8, 4, 2 and 1 the largest for which groups 2^d <= 65536, and one of 8 groups where a number is needed
/// from behind the one found; none where rows are replicated.
[[nodiscard]] std::vector<double> group_quantiles(const Rows& rows, Groups groups, double share);

}  // namespace heatpp::ml::detail
