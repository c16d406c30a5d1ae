#pragma once

#include <heatpp/ml/metrics/detail/labels.hpp>

namespace heatpp::ml::detail {

/// The position of each row of this rank among all rows with its label.
struct Strata {
  /// Finds labels. Collective: as distinct_labels, a scan of 8 C bytes, and all-reduces of 8 (C + 1) and 8 C.
  Strata(const char* op, const DNDarray& y);

  Rows rows;
  std::vector<std::int32_t> label;      ///< for each row of this rank
  std::vector<std::int64_t> position;   ///< for each row of this rank, in the order of all rows of the label
  std::vector<std::int64_t> sizes;      ///< rows of each label
  std::vector<std::size_t> appearance;  ///< labels in the order in which they first occur
};

}  // namespace heatpp::ml::detail
