#include <heatpp/ml/metrics/detail/labels.hpp>

#include <heatpp/comm/detail/raise.hpp>

namespace heatpp::ml::detail {

using heatpp::detail::raise;

Rows as_column(const char* op, const DNDarray& x, const DNDarray& other) {
  if (x.ndim() != 1 || x.shape() != other.shape() || x.size() == 0)
    raise<ValueError>(op, "got shapes {} and {}; expected vectors of one length, not empty", to_string(x.shape()),
                      to_string(other.shape()));
  const auto& y = !x.split() && other.split() ? other : x;
  return heatpp::detail::wrap(y.larray().unsqueeze(1), y.layout().with({y.size(), 1}, y.split()), y.comm());
}

LabelPairs::LabelPairs(const char* op, const DNDarray& y_true, const DNDarray& y_pred,
                       const std::optional<DNDarray>& sample_weight)
    : rows(as_column(op, y_true, y_pred)) {
  const auto a = labels_beside(op, rows, y_true), b = labels_beside(op, rows, y_pred);
  weights = weights_beside(op, rows, sample_weight);
  labels = distinct_labels(rows, at::cat({a, b}));
  truth = positions_among(labels, a);
  predicted = positions_among(labels, b);
}

}  // namespace heatpp::ml::detail
