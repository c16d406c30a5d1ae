#include <heatpp/ml/metrics/ranking.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/metrics/detail/scores.hpp>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/sorting/search.hpp>
#include <heatpp/ops/sorting/sort.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

/// Sums of weights of the sorted scores below each position.
class Below {
 public:
  Below(const DNDarray& scores, const std::optional<DNDarray>& weights) {
    if (!weights) {
      sorted_ = sort(scores);
      return;
    }
    const auto order = argsort(scores);
    sorted_ = scores.index({order});
    own_ = weights->index({order});
    up_to_ = cumsum(*own_, 0);
  }
  /// Returns (below + up to) / 2 for each of `scores`, in their cut.
  [[nodiscard]] at::Tensor of(const DNDarray& scores) const {
    return (at(searchsorted(sorted_, scores)) + at(searchsorted(sorted_, scores, {.side = Side::right}))) / 2;
  }

 private:
  [[nodiscard]] at::Tensor at(const DNDarray& positions) const {
    const auto& local = positions.larray();
    if (!up_to_) return local.to(at::kDouble);
    const auto last = detail::wrap((local - 1).clamp_min(0), positions.layout(), positions.comm());
    return at::where(local > 0, up_to_->index({last}).larray(), 0.0);
  }
  DNDarray sorted_;
  std::optional<DNDarray> own_, up_to_;
};

/// Returns the area under the curve of rows in `high` against rows in `low`, for one column of the scores.
double area(const LabelledScores& given, std::int64_t column, const at::Tensor& high, const at::Tensor& low) {
  const auto& rows = given.rows;
  const auto score = given.scores.select(1, column);
  const auto of_high = chosen(rows, score, high), of_low = chosen(rows, score, low);
  if (!given.weights) {
    const auto pairs = static_cast<double>(of_high.size()) * static_cast<double>(of_low.size());
    auto sum = Below(of_low, std::nullopt).of(of_high).sum(at::kDouble).reshape({1});
    sum_over_ranks(rows, sum, std::nullopt);
    return sum.item<double>() / pairs;
  }
  const auto high_weights = chosen(rows, *given.weights, high), low_weights = chosen(rows, *given.weights, low);
  auto sums = at::stack({(Below(of_low, low_weights).of(of_high) * high_weights.larray()).sum(),
                         high_weights.larray().sum(), low_weights.larray().sum()});
  sum_over_ranks(rows, sums, std::nullopt);
  return (sums[0] / (sums[1] * sums[2])).item<double>();
}

constexpr auto op_of_mean = "roc_auc_score";

double of_two(const LabelledScores& given) {
  const auto& labels = given.labels;
  if (labels.size() != 2)
    detail::raise<ValueError>(op_of_mean, "got {} labels; expected two, or a column of scores for each and multi_class",
                              labels.size());
  return area(given, 0, given.has(labels[1]), given.has(labels[0]));
}

/// Throws ValueError unless the columns are those of the labels, and all labels have rows.
void check_columns(const char* op, const LabelledScores& given, const std::vector<std::int64_t>& labels) {
  const auto& wanted = labels.empty() ? given.labels : labels;
  if (std::ssize(wanted) != given.rows.features() || wanted.size() < 2 ||
      !std::ranges::is_sorted(wanted, std::less_equal{}))
    detail::raise<ValueError>(
        op, "got {} labels for {} columns of scores; expected as many, at least two, in increasing order",
        wanted.size(), given.rows.features());
  for (const auto label : wanted)
    if (!std::ranges::binary_search(given.labels, label))
      detail::raise<ValueError>(op, "got no row of label {}; expected at least one of each", label);
  if (wanted.size() != given.labels.size())
    detail::raise<ValueError>(op, "got rows of {} labels and columns of {}; expected a column for each",
                              given.labels.size(), wanted.size());
}

std::vector<double> against_others(const LabelledScores& given) {
  std::vector<double> areas;
  for (const auto label : given.labels) {
    const auto own = given.has(label);
    areas.push_back(area(given, std::ssize(areas), own, own.logical_not()));
  }
  return areas;
}

double one_against_others(const LabelledScores& given, ScoreAverage average) {
  const auto areas = against_others(given);
  return mean_of(op_of_mean, average, areas, given.sizes());
}

double one_against_one(const LabelledScores& given, ScoreAverage average) {
  const auto sizes = given.sizes();
  std::vector<double> areas, weights;
  for (std::size_t a = 0; a < given.labels.size(); ++a)
    for (auto b = a + 1; b < given.labels.size(); ++b) {
      const auto first = given.has(given.labels[a]), second = given.has(given.labels[b]);
      areas.push_back((area(given, static_cast<std::int64_t>(a), first, second) +
                       area(given, static_cast<std::int64_t>(b), second, first)) /
                      2);
      weights.push_back(sizes[a] + sizes[b]);
    }
  return mean_of(op_of_mean, average, areas, weights);
}

}  // namespace

double roc_auc_score(const DNDarray& y_true, const DNDarray& y_score, const RocAucOptions& options) {
  const LabelledScores given(op_of_mean, y_true, y_score, options.sample_weight);
  if (y_score.ndim() == 1) return of_two(given);
  if (options.multi_class == MultiClass::raise)
    detail::raise<ValueError>(op_of_mean,
                              "got {} columns of scores and no multi_class; expected ovr or ovo, or a vector",
                              given.rows.features());
  check_columns(op_of_mean, given, options.labels);
  return (options.multi_class == MultiClass::ovr ? one_against_others : one_against_one)(given, options.average);
}

DNDarray roc_auc_scores(const DNDarray& y_true, const DNDarray& y_score, const RocAucsOptions& options) {
  constexpr auto op = "roc_auc_scores";
  const LabelledScores given(op, y_true, y_score, options.sample_weight);
  check_columns(op, given, options.labels);
  return replicated(at::tensor(against_others(given), at::kDouble), float64, given.rows.comm());
}

}  // namespace heatpp
