#include <heatpp/ml/metrics/classification.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/metrics/detail/labels.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace heatpp {
namespace {

using namespace ml::detail;

DNDarray whole(std::span<const std::int64_t> labels, const Communicator& comm) {
  return replicated(at::tensor(at::ArrayRef<std::int64_t>(labels.data(), labels.size()), at::kLong), int64, comm);
}

/// The weight of rows of every label: predicted correctly, true, and predicted.
class Found {
 public:
  explicit Found(const LabelPairs& pairs)
      : labels_(pairs.labels), n_(labels_.size()), numbers_(counted(pairs.rows, 3 * n_, [&](auto i, auto sums) {
          const auto t = index(pairs.truth, i), p = index(pairs.predicted, i);
          const auto weight = pairs.weight(i);
          if (t == p) sums[t] += weight;
          sums[n_ + t] += weight;
          sums[2 * n_ + p] += weight;
        })) {}
  [[nodiscard]] std::span<const std::int64_t> labels() const { return labels_; }
  [[nodiscard]] std::span<const double> right() const { return part(0); }
  [[nodiscard]] std::span<const double> truth() const { return part(1); }
  [[nodiscard]] std::span<const double> predicted() const { return part(2); }

 private:
  static std::size_t index(const std::vector<std::int32_t>& of, std::int64_t i) {
    return static_cast<std::size_t>(of[static_cast<std::size_t>(i)]);
  }
  [[nodiscard]] std::span<const double> part(std::size_t i) const { return std::span(numbers_).subspan(i * n_, n_); }
  std::vector<std::int64_t> labels_;
  std::size_t n_;
  std::vector<double> numbers_;
};

/// The score right / of, where `of` is predicted, true, the mean of both, or the union of both.
enum class Score { precision, recall, f1, jaccard };

double base_of(Score score, double right, double truth, double predicted) {
  switch (score) {
    case Score::precision: return predicted;
    case Score::recall: return truth;
    case Score::f1: return (truth + predicted) / 2;
    case Score::jaccard: break;
  }
  return truth + predicted - right;
}

std::vector<double> scores_of(Score score, const Found& found, double zero_division) {
  std::vector<double> scores(found.labels().size());
  for (std::size_t c = 0; c < scores.size(); ++c) {
    const auto base = base_of(score, found.right()[c], found.truth()[c], found.predicted()[c]);
    scores[c] = base > 0 ? found.right()[c] / base : zero_division;
  }
  return scores;
}

double sum_of(std::span<const double> x) { return std::accumulate(x.begin(), x.end(), 0.0); }

double binary(const char* op, const Found& found, const std::vector<double>& scores, const FScoreOptions& options) {
  const auto labels = found.labels();
  const auto at = std::ranges::find(labels, options.pos_label);
  if (labels.size() > 2 || (labels.size() == 2 && at == labels.end()))
    detail::raise<ValueError>(op,
                              "got {} labels from {} to {}, and {} as the positive one; expected two labels, of which "
                              "it is one, or another average",
                              labels.size(), labels.front(), labels.back(), options.pos_label);
  return at == labels.end() ? options.zero_division : scores[static_cast<std::size_t>(at - labels.begin())];
}

double averaged(const char* op, Score score, const LabelPairs& pairs, const FScoreOptions& options) {
  const Found found(pairs);
  const auto scores = scores_of(score, found, options.zero_division);
  switch (options.average) {
    case ScoreAverage::binary: return binary(op, found, scores, options);
    case ScoreAverage::micro: {
      const auto right = sum_of(found.right());
      return right / base_of(score, right, sum_of(found.truth()), sum_of(found.predicted()));
    }
    case ScoreAverage::macro: return sum_of(scores) / static_cast<double>(scores.size());
    case ScoreAverage::weighted: break;
  }
  const auto truth = found.truth();
  return std::inner_product(scores.begin(), scores.end(), truth.begin(), 0.0) / sum_of(truth);
}

}  // namespace

double accuracy_score(const DNDarray& y_true, const DNDarray& y_pred, const MetricOptions& options) {
  constexpr auto op = "accuracy_score";
  const auto rows = as_column(op, y_true, y_pred);
  const auto a = labels_beside(op, rows, y_true), b = labels_beside(op, rows, y_pred);
  const auto weights = weights_beside(op, rows, options.sample_weight);
  const auto* truth = a.const_data_ptr<std::int64_t>();
  const auto* predicted = b.const_data_ptr<std::int64_t>();
  const auto* weight = weights ? weights->const_data_ptr<double>() : nullptr;
  const auto total = counted(rows, 2, [=](std::int64_t i, std::span<double> sums) {
    const auto w = weight ? weight[i] : 1.0;
    sums[0] += truth[i] == predicted[i] ? w : 0;
    sums[1] += w;
  });
  return total[0] / total[1];
}

double balanced_accuracy_score(const DNDarray& y_true, const DNDarray& y_pred, const MetricOptions& options) {
  const Found found(LabelPairs("balanced_accuracy_score", y_true, y_pred, options.sample_weight));
  double sum = 0, labels = 0;
  for (std::size_t c = 0; c < found.labels().size(); ++c)
    if (found.truth()[c] > 0) {
      sum += found.right()[c] / found.truth()[c];
      labels += 1;
    }
  return sum / labels;
}

double matthews_corrcoef(const DNDarray& y_true, const DNDarray& y_pred, const MetricOptions& options) {
  const Found found(LabelPairs("matthews_corrcoef", y_true, y_pred, options.sample_weight));
  const auto n = sum_of(found.truth());
  const auto covariance = [&](double same, std::span<const double> a, std::span<const double> b) {
    return same / n - std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / (n * n);
  };
  const auto both = covariance(sum_of(found.right()), found.truth(), found.predicted());
  const auto own = covariance(n, found.truth(), found.truth()) * covariance(n, found.predicted(), found.predicted());
  return own > 0 ? both / std::sqrt(own) : 0;
}

ConfusionMatrix confusion_matrix(const DNDarray& y_true, const DNDarray& y_pred, const MetricOptions& options) {
  const LabelPairs pairs("confusion_matrix", y_true, y_pred, options.sample_weight);
  const auto n = pairs.labels.size();
  auto counts = counted(pairs.rows, n * n, [&](std::int64_t i, std::span<double> sums) {
    const auto at = static_cast<std::size_t>(i);
    sums[static_cast<std::size_t>(pairs.truth[at]) * n + static_cast<std::size_t>(pairs.predicted[at])] +=
        pairs.weight(i);
  });
  const auto side = static_cast<std::int64_t>(n);
  const auto& comm = pairs.rows.comm();
  return {replicated(at::from_blob(counts.data(), {side, side}, at::kDouble).clone(), pairs.weights ? float64 : int64,
                     comm),
          whole(pairs.labels, comm)};
}

PerClass precision_recall_fscore_support(const DNDarray& y_true, const DNDarray& y_pred,
                                         const PerClassOptions& options) {
  const LabelPairs pairs("precision_recall_fscore_support", y_true, y_pred, options.sample_weight);
  const Found found(pairs);
  const auto& comm = pairs.rows.comm();
  const auto array = [&](std::span<const double> x) {
    return replicated(at::tensor(at::ArrayRef<double>(x.data(), x.size()), at::kDouble), float64, comm);
  };
  const auto scores = [&](Score score) { return array(scores_of(score, found, options.zero_division)); };
  return {whole(pairs.labels, comm), scores(Score::precision), scores(Score::recall), scores(Score::f1),
          array(found.truth())};
}

#define HEATPP_SCORE(name, score)                                                                            \
  double name(const DNDarray& y_true, const DNDarray& y_pred, const FScoreOptions& options) {                \
    return averaged(#name, Score::score, LabelPairs(#name, y_true, y_pred, options.sample_weight), options); \
  }
HEATPP_SCORE(precision_score, precision)
HEATPP_SCORE(recall_score, recall)
HEATPP_SCORE(f1_score, f1)
HEATPP_SCORE(jaccard_score, jaccard)
#undef HEATPP_SCORE

}  // namespace heatpp
