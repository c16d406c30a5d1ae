#include <heatpp/ml/metrics/detail/labels.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace heatpp::ml::detail {

using heatpp::detail::raise;

Rows as_column(const char* op, const DNDarray& x, const DNDarray& other) {
  if (x.ndim() != 1 || x.shape() != other.shape() || x.size() == 0)
    raise<ValueError>(op, "got shapes {} and {}; expected vectors of one length, not empty", to_string(x.shape()),
                      to_string(other.shape()));
  const auto& y = !x.layout().is_cut() && other.layout().is_cut() ? other : x;
  return heatpp::detail::wrap(y.larray().unsqueeze(1), y.layout().along({y.size(), 1}, std::array{0, -1}), y.comm());
}

void check_different(const char* op, const std::vector<std::int64_t>& labels) {
  auto order = labels;
  std::ranges::sort(order);
  const auto twice = std::ranges::adjacent_find(order);
  if (twice != order.end()) raise<ValueError>(op, "got {} twice in labels; expected different ones", *twice);
}

std::vector<std::int64_t> places_among(const std::vector<std::int64_t>& all, const std::vector<std::int64_t>& labels) {
  std::map<std::int64_t, std::int64_t> known;
  for (std::size_t i = 0; i < all.size(); ++i) known[all[i]] = static_cast<std::int64_t>(i);
  std::vector<std::int64_t> places;
  for (const auto label : labels) {
    const auto at = known.find(label);
    places.push_back(at == known.end() ? -1 : at->second);
  }
  return places;
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
