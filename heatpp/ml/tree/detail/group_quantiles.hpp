#pragma once

#include <heatpp/ml/detail/pieces.hpp>

// Quantiles, over all ranks, of numbers in groups.
namespace heatpp::ml::detail {

/// Numbers of this rank with whole-number weights, group by group; every rank has the same number of groups.
class Groups {
 public:
  struct Item {
    std::uint64_t key;  ///< ordered as the number
    std::int64_t weight;
  };
  /// All weights are 1, or sum to at most `total_weight` over all ranks.
  explicit Groups(std::optional<double> total_weight = std::nullopt);
  /// Adds a number to the last group.
  void add(double number, double weight);
  /// Ends a group; the next number begins another one.
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

/// Returns for each group the number at `share` of it: with linear interpolation, as NumPy's quantile, if all weights
/// are 1, else the least number up to which this share of the weight lies, as in scikit-learn's losses; 0 for groups
/// without weight. Finds it digit by digit, from the first: each pass counts the numbers that share the digits found so
/// far. Exact except for weights, which are rounded to 2^-61 of their total; so results have the same bits for any
/// number of ranks. Collective: one all-reduce of 8 groups 2^d bytes for each of the 64 / d digits of d bits, and one
/// of 8 groups if a next larger number is needed; none if rows are replicated. d is the largest of 8, 4, 2 and 1 for
/// which groups 2^d <= 65536.
[[nodiscard]] std::vector<double> group_quantiles(const Rows& rows, Groups groups, double share);

}  // namespace heatpp::ml::detail
