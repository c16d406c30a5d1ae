#pragma once

#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::ml::detail {

/// A partition of space into one box for each rank, with about equal numbers of rows: a k-d tree of a sample.
class Boxes {
 public:
  /// `mine` holds this rank's rows in float64. Collective: one all-gather of at most 1024 rows for each rank.
  Boxes(const Rows& rows, const at::Tensor& mine);
  /// Returns the rank whose box contains a place. Local.
  [[nodiscard]] int owner(const double* place) const;
  /// Adds the ranks whose boxes reach within `reach` of a place along each axis. Local.
  void near(const double* place, double reach, std::vector<int>& ranks) const;

 private:
  /// Places below `cut` along `axis` are on the left. A child is a node, or a rank if negative: -1 is rank 0.
  struct Node {
    std::int64_t axis;
    double cut;
    int left, right;
  };
  int divide(std::vector<const double*> sample, std::int64_t features, int first, int last);
  void near(int node, const double* place, double reach, std::vector<int>& ranks) const;

  std::vector<Node> nodes_;
  int root_ = -1;
};

}  // namespace heatpp::ml::detail
