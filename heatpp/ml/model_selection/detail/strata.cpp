#include <heatpp/ml/model_selection/detail/strata.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace heatpp::ml::detail {
namespace {

constexpr auto never = std::numeric_limits<std::int64_t>::max();

}  // namespace

Strata::Strata(const char* op, const DNDarray& y) : rows(as_column(op, y, y)) {
  const auto mine = labels_beside(op, rows, y);
  const auto labels = distinct_labels(rows, mine);
  label = positions_among(labels, mine);
  position.resize(label.size());
  sizes.assign(labels.size(), 0);
  std::vector<std::int64_t> before(labels.size(), 0), first(labels.size(), never);
  for (std::size_t i = 0; i < label.size(); ++i) {
    const auto c = static_cast<std::size_t>(label[i]);
    if (sizes[c] == 0) first[c] = rows.first() + static_cast<std::int64_t>(i);
    position[i] = sizes[c]++;
  }
  if (rows.distributed()) {
    before = sizes;
    rows.comm().exscan(before);
    if (rows.comm().rank() == 0) std::ranges::fill(before, 0);
    rows.comm().allreduce(sizes);
    rows.comm().allreduce(first, ReduceOp::min);
  }
  for (std::size_t i = 0; i < label.size(); ++i) position[i] += before[static_cast<std::size_t>(label[i])];
  appearance.resize(labels.size());
  std::iota(appearance.begin(), appearance.end(), std::size_t{0});
  std::ranges::sort(appearance, {}, [&](std::size_t c) { return first[c]; });
}

}  // namespace heatpp::ml::detail
