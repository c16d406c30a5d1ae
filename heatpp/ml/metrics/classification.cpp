#include <heatpp/ml/metrics/classification.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/metrics/detail/found.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {
namespace {

using namespace ml::detail;

DNDarray whole(std::span<const std::int64_t> labels, const Communicator& comm) {
  return replicated(at::tensor(at::ArrayRef<std::int64_t>(labels.data(), labels.size()), at::kLong), int64, comm);
}

double sum_of(std::span<const double> x) { return std::accumulate(x.begin(), x.end(), 0.0); }

DNDarray array_of(std::span<const double> x, const Communicator& comm) {
  return replicated(at::tensor(at::ArrayRef<double>(x.data(), x.size()), at::kDouble), float64, comm);
}

double binary(const char* op, Score score, const Found& found, const FScoreOptions& options) {
  const auto labels = found.labels();
  const auto at = std::ranges::find(labels, options.pos_label);
  if (labels.size() > 2 || (labels.size() == 2 && at == labels.end()))
    detail::raise<ValueError>(op,
                              "got {} labels from {} to {}, and {} as the positive one; expected two labels, of which "
                              "it is one, or another average",
                              labels.size(), labels.front(), labels.back(), options.pos_label);
  return scores_of(score, found.of({options.pos_label}), options.zero_division).front();
}

/// The rows of each label, and those of labels that are wanted.
struct Wanted {
  Wanted(const char* op, const DNDarray& y_true, const DNDarray& y_pred, const std::optional<DNDarray>& sample_weight,
         const std::vector<std::int64_t>& labels)
      : pairs(op, y_true, y_pred, sample_weight), all(pairs), some(all.of(labels)) {
    check_different(op, labels);
  }
  LabelPairs pairs;
  Found all, some;
};

double averaged(const char* op, Score score, const DNDarray& y_true, const DNDarray& y_pred,
                const FScoreOptions& options) {
  const Wanted found(op, y_true, y_pred, options.sample_weight, options.labels);
  if (options.average == ScoreAverage::binary) return binary(op, score, found.all, options);
  return average_of(score, found.some, options.average, options.zero_division);
}

/// Returns the numbers as shares.
at::Tensor shares(const at::Tensor& counts, ConfusionShare of) {
  const auto sums = of == ConfusionShare::all     ? counts.sum()
                    : of == ConfusionShare::truth ? counts.sum(1, true)
                                                  : counts.sum(0, true);
  return (counts / sums).nan_to_num(0);
}

}  // namespace

double accuracy_score(const DNDarray& y_true, const DNDarray& y_pred, const AccuracyOptions& options) {
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
  return options.normalize ? total[0] / total[1] : total[0];
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

ConfusionMatrix confusion_matrix(const DNDarray& y_true, const DNDarray& y_pred, const ConfusionOptions& options) {
  constexpr auto op = "confusion_matrix";
  check_different(op, options.labels);
  const LabelPairs pairs(op, y_true, y_pred, options.sample_weight);
  const auto& labels = options.labels.empty() ? pairs.labels : options.labels;
  const auto place = places_among(labels, pairs.labels);
  const auto n = labels.size();
  const bool given = !options.labels.empty();  // then one more number counts rows whose true label is wanted
  auto counts = counted(pairs.rows, n * n + (given ? 1 : 0), [&](std::int64_t i, std::span<double> sums) {
    const auto at = static_cast<std::size_t>(i);
    const auto t = place[static_cast<std::size_t>(pairs.truth[at])];
    const auto p = place[static_cast<std::size_t>(pairs.predicted[at])];
    if (t < 0) return;
    if (given) sums[n * n] += 1;
    if (p >= 0) sums[static_cast<std::size_t>(t) * n + static_cast<std::size_t>(p)] += pairs.weight(i);
  });
  if (given && counts[n * n] == 0)
    detail::raise<ValueError>(op, "got {} labels, none of which is in y_true; expected at least one that is", n);
  const auto side = static_cast<std::int64_t>(n);
  const auto matrix = at::from_blob(counts.data(), {side, side}, at::kDouble).clone();
  const auto& comm = pairs.rows.comm();
  return {options.normalize ? replicated(shares(matrix, *options.normalize), float64, comm)
                            : replicated(matrix, pairs.weights ? float64 : int64, comm),
          whole(labels, comm)};
}

PerClass precision_recall_fscore_support(const DNDarray& y_true, const DNDarray& y_pred,
                                         const PerClassOptions& options) {
  const Wanted found("precision_recall_fscore_support", y_true, y_pred, options.sample_weight, options.labels);
  const auto& comm = found.pairs.rows.comm();
  const auto scores = [&](Score score) { return array_of(scores_of(score, found.some, options.zero_division), comm); };
  return {whole(found.some.labels(), comm), scores(Score::precision), scores(Score::recall), scores(Score::f1),
          array_of(found.some.truth(), comm)};
}

DNDarray jaccard_scores(const DNDarray& y_true, const DNDarray& y_pred, const PerClassOptions& options) {
  const Wanted found("jaccard_scores", y_true, y_pred, options.sample_weight, options.labels);
  return array_of(scores_of(Score::jaccard, found.some, options.zero_division), found.pairs.rows.comm());
}

#define HEATPP_SCORE(name, score)                                                             \
  double name(const DNDarray& y_true, const DNDarray& y_pred, const FScoreOptions& options) { \
    return averaged(#name, Score::score, y_true, y_pred, options);                            \
  }
HEATPP_SCORE(precision_score, precision)
HEATPP_SCORE(recall_score, recall)
HEATPP_SCORE(f1_score, f1)
HEATPP_SCORE(jaccard_score, jaccard)
#undef HEATPP_SCORE

}  // namespace heatpp
