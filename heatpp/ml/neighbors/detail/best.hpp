#pragma once

#include <heatpp/ml/neighbors/detail/search.hpp>

namespace heatpp::ml::detail {

/// Keeps the nearest rows of a row, as a heap with the farthest one at the front.
struct Best {
  std::vector<Near> heap = {};
  void take(const Near& near, std::size_t most);
  /// Returns the distance below which another row would be kept.
  [[nodiscard]] double bound(std::size_t most) const;
};

/// Returns the best ones of each row, as (rows, k) distances in the dtype of the rows, and numbers, int64; missing ones
/// have an infinite distance and number -1. Local.
[[nodiscard]] Neighbors answers_of(Metric metric, std::vector<Best> best, std::int64_t k, at::ScalarType type,
                                   const Rows& rows);

/// Cuts rows that all ranks hold evenly if the fitted rows are split, so that each rank asks for a part of them.
[[nodiscard]] Rows shared_out(const Rows& x, bool fitted_are_cut);
/// Brings results for shared-out rows back to the layout of `x`. Collective if they are gathered.
[[nodiscard]] DNDarray back(const DNDarray& result, const Rows& x);

}  // namespace heatpp::ml::detail
