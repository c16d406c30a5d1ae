#include <heatpp/ml/metrics/detail/scores.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ops/operands/index.hpp>

#include <array>
#include <numeric>

namespace heatpp::ml::detail {

using heatpp::detail::raise;

Rows as_matrix(const DNDarray& x) {
  if (x.ndim() != 1) return x;
  return heatpp::detail::wrap(x.larray().unsqueeze(1), x.layout().along({x.size(), 1}, std::array{0, -1}), x.comm());
}

LabelledScores::LabelledScores(const char* op, const DNDarray& y_true, const DNDarray& y_score,
                               const std::optional<DNDarray>& sample_weight)
    : rows(y_score.ndim() == 1 ? as_column(op, y_score, y_true) : Rows(y_score)) {
  check_not_empty(op, rows);
  truth = labels_beside(op, rows, y_true);
  weights = weights_beside(op, rows, sample_weight);
  labels = distinct_labels(rows, truth);
  scores = y_score.ndim() == 1 ? beside_rows(op, "scores", rows, y_score).unsqueeze(1)
                               : rows.read(0, rows.count()).to(at::kCPU, at::kDouble);
  const auto all = as_rows(rows, scores);
  static_cast<void>(summed(all, 0, [&](const auto& piece, std::span<double>) { check_finite(op, all, piece); }));
}

std::vector<double> LabelledScores::sizes() const {
  const auto place = positions_among(labels, truth);
  return counted(rows, labels.size(), [&](std::int64_t i, std::span<double> sums) {
    sums[static_cast<std::size_t>(place[static_cast<std::size_t>(i)])] +=
        weights ? weights->const_data_ptr<double>()[i] : 1.0;
  });
}

DNDarray chosen(const Rows& rows, const at::Tensor& x, const at::Tensor& mask) {
  return as_rows(rows, x).index({as_rows(rows, mask)});
}

double mean_of(const char* op, ScoreAverage average, std::span<const double> numbers, std::span<const double> weights) {
  switch (average) {
    case ScoreAverage::macro:
      return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
    case ScoreAverage::weighted:
      return std::inner_product(numbers.begin(), numbers.end(), weights.begin(), 0.0) /
             std::accumulate(weights.begin(), weights.end(), 0.0);
    case ScoreAverage::binary:
    case ScoreAverage::micro: break;
  }
  raise<ValueError>(op, "got the average {} for several columns of scores; expected macro or weighted",
                    average == ScoreAverage::micro ? "micro" : "binary");
}

}  // namespace heatpp::ml::detail
