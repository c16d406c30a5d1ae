#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/metrics/classification.hpp>
#include <heatpp/ml/metrics/detail/labels.hpp>
#include <heatpp/ops/calculus/scan.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/sorting/search.hpp>
#include <heatpp/ops/sorting/sort.hpp>

#include <limits>

namespace heatpp {
namespace {

using namespace ml::detail;

/// (n, columns), of a vector one column.
Rows as_matrix(const DNDarray& x) {
  if (x.ndim() != 1) return x;
  return heatpp::detail::wrap(x.larray().unsqueeze(1), x.layout().with({x.size(), 1}, x.split()), x.comm());
}

void check_labels(const char* op, const std::vector<std::int64_t>& labels, std::int64_t columns) {
  const auto expected = columns == 1 ? 2 : columns;
  if (std::ssize(labels) != expected || !std::ranges::is_sorted(labels, std::less_equal{}))
    detail::raise<ValueError>(op, "got {} labels for {} columns of probabilities; expected {} different ones, rising",
                              labels.size(), columns, expected);
}

void check_scores(const char* op, const Rows& scores) {
  static_cast<void>(summed(scores, 0, [&](const auto& piece, std::span<double>) { check_finite(op, scores, piece); }));
}

/// Vectors cut as the rows, of those where `mask` is true and of the others: a new cut, of which every rank hears.
DNDarray chosen(const Rows& rows, const at::Tensor& x, const at::Tensor& mask) {
  return as_rows(rows, x).index({as_rows(rows, mask)});
}

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
  /// (below + up to) / 2 for each of `scores`, in their cut.
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

double sum_over(const Rows& rows, const at::Tensor& x) {
  auto sum = x.sum(at::kDouble).reshape({1});
  sum_over_ranks(rows, sum, std::nullopt);
  return sum.item<double>();
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

double roc_auc_score(const DNDarray& y_true, const DNDarray& y_score, const MetricOptions& options) {
  constexpr auto op = "roc_auc_score";
  const auto rows = as_column(op, y_score, y_true);
  const auto mine = labels_beside(op, rows, y_true);
  const auto weights = weights_beside(op, rows, options.sample_weight);
  const auto labels = distinct_labels(rows, mine);
  if (labels.size() != 2) detail::raise<ValueError>(op, "got {} labels; expected two", labels.size());
  const auto score = beside_rows(op, "scores", rows, y_score);
  check_scores(op, as_rows(rows, score.unsqueeze(1)));
  const auto high = mine == labels[1], low = mine == labels[0];
  const auto of_high = chosen(rows, score, high), of_low = chosen(rows, score, low);
  if (!weights) {
    const auto pairs = static_cast<double>(of_high.size()) * static_cast<double>(of_low.size());
    return sum_over(rows, Below(of_low, std::nullopt).of(of_high)) / pairs;
  }
  const auto high_weights = chosen(rows, *weights, high), low_weights = chosen(rows, *weights, low);
  auto sums = at::stack({(Below(of_low, low_weights).of(of_high) * high_weights.larray()).sum(),
                         high_weights.larray().sum(), low_weights.larray().sum()});
  sum_over_ranks(rows, sums, std::nullopt);
  return (sums[0] / (sums[1] * sums[2])).item<double>();
}

}  // namespace heatpp
