#include <heatpp/ml/metrics/detail/found.hpp>

#include <cmath>
#include <limits>
#include <numeric>

namespace heatpp::ml::detail {
namespace {

double sum_of(std::span<const double> x) { return std::accumulate(x.begin(), x.end(), 0.0); }

double base_of(Score score, double right, double truth, double predicted) {
  switch (score) {
    case Score::precision: return predicted;
    case Score::recall: return truth;
    case Score::f1: return (truth + predicted) / 2;
    case Score::jaccard: break;
  }
  return truth + predicted - right;
}

double share(double right, double base, double zero_division) { return base > 0 ? right / base : zero_division; }

/// Returns the weighted mean of the scores that are numbers; weights that are all 0 count as 1.
double mean_of_numbers(const std::vector<double>& scores, std::span<const double> weights) {
  double sum = 0, all = 0, plain = 0, count = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (std::isnan(scores[c])) continue;
    const auto weight = weights.empty() ? 1.0 : weights[c];
    sum += weight * scores[c];
    all += weight;
    plain += scores[c];
    count += 1;
  }
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  return all > 0 ? sum / all : plain / count;
}

}  // namespace

Found::Found(const LabelPairs& pairs) : labels_(pairs.labels) {
  const auto n = labels_.size();
  const auto index = [](const std::vector<std::int32_t>& of, std::int64_t i) {
    return static_cast<std::size_t>(of[static_cast<std::size_t>(i)]);
  };
  numbers_ = counted(pairs.rows, 3 * n, [&](std::int64_t i, std::span<double> sums) {
    const auto t = index(pairs.truth, i), p = index(pairs.predicted, i);
    const auto weight = pairs.weight(i);
    if (t == p) sums[t] += weight;
    sums[n + t] += weight;
    sums[2 * n + p] += weight;
  });
}

Found Found::of(const std::vector<std::int64_t>& labels) const {
  if (labels.empty()) return *this;
  auto result = *this;
  result.labels_ = labels;
  result.numbers_.assign(3 * labels.size(), 0.0);
  const auto places = places_among(labels_, labels);
  for (std::size_t c = 0; c < labels.size(); ++c)
    for (std::size_t i = 0; places[c] >= 0 && i < 3; ++i)
      result.numbers_[i * labels.size() + c] = part(i)[static_cast<std::size_t>(places[c])];
  return result;
}

std::vector<double> scores_of(Score score, const Found& found, double zero_division) {
  std::vector<double> scores(found.labels().size());
  for (std::size_t c = 0; c < scores.size(); ++c) {
    const auto right = found.right()[c];
    scores[c] = share(right, base_of(score, right, found.truth()[c], found.predicted()[c]), zero_division);
  }
  return scores;
}

double average_of(Score score, const Found& found, ScoreAverage average, double zero_division) {
  if (average == ScoreAverage::micro) {
    const auto right = sum_of(found.right());
    return share(right, base_of(score, right, sum_of(found.truth()), sum_of(found.predicted())), zero_division);
  }
  const auto weights = average == ScoreAverage::weighted ? found.truth() : std::span<const double>();
  return mean_of_numbers(scores_of(score, found, zero_division), weights);
}

}  // namespace heatpp::ml::detail
