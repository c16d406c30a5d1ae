#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/metrics/classification.hpp>
#include <heatpp/ml/metrics/detail/scores.hpp>

#include <limits>

namespace heatpp {
namespace {

using namespace ml::detail;

void check_labels(const char* op, const std::vector<std::int64_t>& labels, std::int64_t columns) {
  const auto expected = columns == 1 ? 2 : columns;
  if (std::ssize(labels) != expected || !std::ranges::is_sorted(labels, std::less_equal{}))
    detail::raise<ValueError>(op, "got {} labels for {} columns of probabilities; expected {} different ones, rising",
                              labels.size(), columns, expected);
}

}  // namespace

double log_loss(const DNDarray& y_true, const DNDarray& y_prob, const LogLossOptions& options) {
  constexpr auto op = "log_loss";
  const auto rows = as_matrix(y_prob);
  const auto mine = labels_beside(op, rows, y_true);
  const auto weights = weights_beside(op, rows, options.sample_weight);
  const auto labels = options.labels.empty() ? distinct_labels(rows, mine) : options.labels;
  check_labels(op, labels, rows.features());
  const auto* label = mine.const_data_ptr<std::int64_t>();
  const auto total = summed(rows, 2, [&](const auto& piece, std::span<double> sums) {
    using T = std::remove_cvref_t<decltype(*piece.data)>;
    check_finite(op, rows, piece);
    for (std::int64_t i = 0; i < piece.rows; ++i) {
      const auto at = piece.first + i;
      const auto found = std::ranges::lower_bound(labels, label[at]);
      if (found == labels.end() || *found != label[at])
        detail::raise<ValueError>(op, "got the label {} in row {}; expected one of the {} that have a column",
                                  label[at], rows.first() + at, labels.size());
      for (std::int64_t j = 0; j < piece.features; ++j)
        if (const auto p = piece.row(i)[j]; p < 0 || p > 1)
          detail::raise<ValueError>(op, "got the probability {} in row {}, column {}; expected 0 to 1", p,
                                    rows.first() + at, j);
      const auto column = found - labels.begin();
      const auto p = static_cast<double>(piece.row(i)[piece.features == 1 ? 0 : column]);
      constexpr auto least = static_cast<double>(std::numeric_limits<T>::epsilon());
      const auto right = piece.features == 1 && column == 0 ? 1 - p : p;
      const auto weight = weights ? weights->template const_data_ptr<double>()[at] : 1.0;
      sums[0] -= weight * std::log(std::clamp(right, least, 1 - least));
      sums[1] += weight;
    }
  });
  return total[0] / total[1];
}

}  // namespace heatpp
