#pragma once

#include <heatpp/ml/neighbors/detail/search.hpp>

namespace heatpp::ml::detail {

/// Keeps the nearest ones of a row, as a heap with the farthest at the front.
struct Best {
  std::vector<Near> heap = {};
  void take(const Near& near, std::size_t most);
  /// How near another has to be.
  [[nodiscard]] double bound(std::size_t most) const;
};

/// The best of each row that asked, as (rows, k) distances, in the dtype of the rows, and numbers, int64; where there
/// are fewer, at infinity and -1. Local.
[[nodiscard]] Neighbors answers_of(Metric metric, std::vector<Best> best, std::int64_t k, at::ScalarType type,
                                   const Rows& rows);

/// Rows that all ranks have, cut evenly where the learnt ones are cut, so that each rank asks for a part of them.
[[nodiscard]] Rows shared_out(const Rows& x, bool learnt_are_cut);
/// What was found of them, as they were before. Collective where it is gathered.
[[nodiscard]] DNDarray back(const DNDarray& result, const Rows& x);

}  // namespace heatpp::ml::detail
