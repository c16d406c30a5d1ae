#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/detail/classes.hpp>
#include <heatpp/ops/sorting/sets.hpp>

namespace heatpp::ml::detail {

using heatpp::detail::raise;

namespace {

void check_labels(const char* op, const Rows& rows, const DNDarray& y) {
  if (!is_integral(y.dtype()) && y.dtype() != Dtype::bool_)
    raise<TypeError>(op, "got labels of {}; expected whole numbers or truth values", name(y.dtype()));
  if (y.shape() != Shape{rows.size()})
    raise<ValueError>(op, "got labels of shape {} for {} rows; expected one for each", to_string(y.shape()),
                      rows.size());
}

/// The place of each label, -1 where it is not there.
std::vector<std::int32_t> places(const at::Tensor& labels, const at::Tensor& values) {
  const auto first = values.const_data_ptr<std::int64_t>(), last = first + values.numel();
  std::vector<std::int32_t> result(static_cast<std::size_t>(labels.numel()));
  std::transform(labels.const_data_ptr<std::int64_t>(), labels.const_data_ptr<std::int64_t>() + labels.numel(),
                 result.begin(), [&](std::int64_t label) {
                   const auto* at = std::lower_bound(first, last, label);
                   return at != last && *at == label ? static_cast<std::int32_t>(at - first) : -1;
                 });
  return result;
}

}  // namespace

at::Tensor labels_beside(const char* op, const Rows& rows, const DNDarray& y) {
  check_labels(op, rows, y);
  const auto target = rows.layout().with({rows.size()}, rows.layout().split());
  return heatpp::detail::relayout_operand(op, y, target, rows.comm()).to(at::kCPU, at::kLong).contiguous();
}

LabelledClasses classes_beside(const char* op, const Rows& rows, const DNDarray& y) {
  const auto labels = labels_beside(op, rows, y);
  const auto values = resplit(unique(y), std::nullopt).larray().to(at::kCPU, at::kLong).contiguous();
  return {values, places(labels, values)};
}

UnitedClasses united(const at::Tensor& first, const at::Tensor& second) {
  const auto [values, places, counts] =
      at::_unique2(at::cat({first, second}), /*sorted=*/true, /*return_inverse=*/true);
  return {values, places.slice(0, 0, first.size(0)), places.slice(0, first.size(0))};
}

}  // namespace heatpp::ml::detail
