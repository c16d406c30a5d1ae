#include <heatpp/ml/linear/detail/targets.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>

namespace heatpp::ml::detail {

Targets targets_beside(const char* op, const Rows& rows, const DNDarray& y) {
  const auto& shape = y.shape();
  if (shape == Shape{rows.size()}) return {beside_rows(op, "targets", rows, y).unsqueeze(1), true};
  if (shape.size() != 2 || shape[0] != rows.size() || shape[1] < 1)
    heatpp::detail::raise<ValueError>(op, "got targets of shape {} for {} rows; expected ({},) or ({}, targets)",
                                      to_string(shape), rows.size(), rows.size(), rows.size());
  const auto target = rows.layout().with(shape, rows.layout().split());
  const auto mine = heatpp::detail::relayout_operand(op, y, target, rows.comm());
  return {mine.to(at::kCPU, at::kDouble).contiguous(), false};
}

}  // namespace heatpp::ml::detail
