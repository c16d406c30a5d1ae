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
    detail::raise<ValueError>(op, "got {} labels for {} columns; expected {} different ones in increasing order",
                              labels.size(), columns, expected);
}

/// Sums over rows with a number for each label: calls f(row, columns, column of the true label, weight, sums); a single
/// column is that of the second of two labels.
template <class F>
std::vector<double> over_rows(const char* op, const DNDarray& y_true, const DNDarray& columns,
                              const std::optional<DNDarray>& sample_weight, const std::vector<std::int64_t>& given,
                              std::size_t numbers, F f) {
  const auto rows = as_matrix(columns);
  const auto mine = labels_beside(op, rows, y_true);
  const auto weights = weights_beside(op, rows, sample_weight);
  const auto labels = given.empty() ? distinct_labels(rows, mine) : given;
  check_labels(op, labels, rows.features());
  const auto* label = mine.const_data_ptr<std::int64_t>();
  return summed(rows, numbers, [&](const auto& piece, std::span<double> sums) {
    check_finite(op, rows, piece);
    for (std::int64_t i = 0; i < piece.rows; ++i) {
      const auto at = piece.first + i;
      const auto found = std::ranges::lower_bound(labels, label[at]);
      if (found == labels.end() || *found != label[at])
        detail::raise<ValueError>(op, "got the label {} in row {}; expected one of the {} that have a column",
                                  label[at], rows.first() + at, labels.size());
      f(piece.row(i), piece.features, found - labels.begin(),
        weights ? weights->template const_data_ptr<double>()[at] : 1.0, sums, rows.first() + at);
    }
  });
}

template <class T>
void check_probabilities(const char* op, const T* row, std::int64_t columns, std::int64_t position) {
  for (std::int64_t j = 0; j < columns; ++j)
    if (row[j] < 0 || row[j] > 1)
      detail::raise<ValueError>(op, "got the probability {} in row {}, column {}; expected 0 to 1", row[j], position,
                                j);
}

/// Returns the squared distance of a row's probabilities from the truth.
template <class T>
double brier(const T* row, std::int64_t columns, std::int64_t truth) {
  const auto off = [&](std::int64_t column, bool is) {
    const auto by = static_cast<double>(row[column]) - (is ? 1 : 0);
    return by * by;
  };
  if (columns == 1) return off(0, truth == 1);
  double sum = 0;
  for (std::int64_t j = 0; j < columns; ++j) sum += off(j, j == truth);
  return columns == 2 ? sum / 2 : sum;
}

/// Whether fewer than k columns come before that of the true label.
template <class T>
bool among_first(const T* row, std::int64_t columns, std::int64_t truth, std::int64_t k) {
  std::int64_t before = 0;
  for (std::int64_t j = 0; j < columns; ++j) before += row[j] > row[truth] || (row[j] == row[truth] && j > truth);
  return before < k;
}

}  // namespace

double log_loss(const DNDarray& y_true, const DNDarray& y_prob, const LogLossOptions& options) {
  constexpr auto op = "log_loss";
  const auto add = [](const auto* row, std::int64_t columns, std::int64_t truth, double weight, auto sums,
                      std::int64_t position) {
    check_probabilities(op, row, columns, position);
    using T = std::remove_cvref_t<decltype(*row)>;
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::epsilon());
    const auto p = static_cast<double>(row[columns == 1 ? 0 : truth]);
    const auto right = columns == 1 && truth == 0 ? 1 - p : p;
    sums[0] -= weight * std::log(std::clamp(right, least, 1 - least));
    sums[1] += weight;
  };
  const auto total = over_rows(op, y_true, y_prob, options.sample_weight, options.labels, 2, add);
  return options.normalize ? total[0] / total[1] : total[0];
}

double brier_score_loss(const DNDarray& y_true, const DNDarray& y_prob, const BrierOptions& options) {
  constexpr auto op = "brier_score_loss";
  const auto add = [](const auto* row, std::int64_t columns, std::int64_t truth, double weight, auto sums,
                      std::int64_t position) {
    check_probabilities(op, row, columns, position);
    sums[0] += weight * brier(row, columns, truth);
    sums[1] += weight;
  };
  const auto total = over_rows(op, y_true, y_prob, options.sample_weight, options.labels, 2, add);
  return total[0] / total[1];
}

double top_k_accuracy_score(const DNDarray& y_true, const DNDarray& y_score, const TopKOptions& options) {
  constexpr auto op = "top_k_accuracy_score";
  if (options.k < 1) detail::raise<ValueError>(op, "got k {}; expected 1 or more", options.k);
  const auto k = options.k;
  // Counts by the threshold 0, by 1/2, the total, and rows that are no probabilities.
  const auto add = [k](const auto* row, std::int64_t columns, std::int64_t truth, double weight, auto sums,
                       std::int64_t) {
    const auto found = [&](double border) {
      if (columns > 1) return among_first(row, columns, truth, k);
      return k > 1 || (static_cast<double>(row[0]) > border) == (truth == 1);
    };
    sums[0] += found(0) ? weight : 0;
    sums[1] += found(0.5) ? weight : 0;
    sums[2] += weight;
    sums[3] += columns == 1 && (row[0] < 0 || row[0] > 1) ? 1 : 0;
  };
  const auto total = over_rows(op, y_true, y_score, options.sample_weight, options.labels, 4, add);
  const auto found = total[3] > 0 ? total[0] : total[1];
  return options.normalize ? found / total[2] : found;
}

}  // namespace heatpp
