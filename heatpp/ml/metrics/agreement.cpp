#include <heatpp/ml/metrics/agreement.hpp>
#include <heatpp/ml/metrics/detail/labels.hpp>
#include <heatpp/ops/sorting/sets.hpp>

#include <cmath>
#include <limits>
#include <numeric>

namespace heatpp {
namespace {

using namespace ml::detail;

constexpr std::size_t tabled_labels = 1024;

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }
double square(double x) { return x * x; }

/// Sums over groups of rows: of squared sizes, and of sizes times their logarithms.
struct Sizes {
  double squares = 0, logs = 0;
  explicit Sizes(std::span<const double> sizes) {
    for (const auto size : sizes) {
      squares += square(size);
      logs += x_log_x(size);
    }
  }
};

/// Sums over pairs of labels: from a table on every rank, or for many labels from distinct pairs, each on one rank.
Sizes of_pairs(const LabelPairs& pairs) {
  const auto n = static_cast<std::int64_t>(pairs.labels.size());
  const auto code = [&, truth = pairs.truth.data(), predicted = pairs.predicted.data()](std::int64_t i) {
    return truth[i] * n + predicted[i];
  };
  if (pairs.labels.size() <= tabled_labels)
    return Sizes(counted(pairs.rows, static_cast<std::size_t>(n * n), [&](std::int64_t i, std::span<double> sums) {
      sums[static_cast<std::size_t>(code(i))] += 1;
    }));
  auto codes = at::empty({pairs.rows.count()}, at::kLong);
  for (std::int64_t i = 0; i < codes.numel(); ++i) codes.mutable_data_ptr<std::int64_t>()[i] = code(i);
  const auto counts = unique_counts(as_rows(pairs.rows, codes)).counts.larray().to(at::kDouble).contiguous();
  Sizes sizes({counts.const_data_ptr<double>(), static_cast<std::size_t>(counts.numel())});
  auto both = at::tensor({sizes.squares, sizes.logs}, at::kDouble);
  sum_over_ranks(pairs.rows, both, std::nullopt);
  sizes.squares = both[0].item<double>();
  sizes.logs = both[1].item<double>();
  return sizes;
}

/// The sums from which all these scores follow.
struct Contingency {
  Contingency(const char* op, const DNDarray& labels_true, const DNDarray& labels_pred)
      : Contingency(LabelPairs(op, labels_true, labels_pred)) {}
  explicit Contingency(const LabelPairs& all)
      : n(static_cast<double>(all.rows.size())),
        sizes(counted(all.rows, 2 * all.labels.size(),
                      [&, c = all.labels.size()](std::int64_t i, std::span<double> sums) {
                        const auto at = static_cast<std::size_t>(i);
                        sums[static_cast<std::size_t>(all.truth[at])] += 1;
                        sums[c + static_cast<std::size_t>(all.predicted[at])] += 1;
                      })),
        truth(true_sizes()),
        predicted(predicted_sizes()),
        pairs(of_pairs(all)) {}
  [[nodiscard]] std::span<const double> true_sizes() const { return std::span(sizes).first(sizes.size() / 2); }
  [[nodiscard]] std::span<const double> predicted_sizes() const { return std::span(sizes).last(sizes.size() / 2); }

  [[nodiscard]] double entropy(const Sizes& of) const { return std::max(0.0, std::log(n) - of.logs / n); }
  [[nodiscard]] double mutual_information() const {
    const auto information = std::log(n) + (pairs.logs - truth.logs - predicted.logs) / n;
    return std::abs(information) <= std::numeric_limits<double>::epsilon() ? 0 : std::max(0.0, information);
  }
  /// Whether one labeling puts all rows in one group, or both give each row its own group.
  [[nodiscard]] bool trivial() const {
    const auto one = [&](const Sizes& of) { return of.squares == n * n; };
    return (one(truth) && one(predicted)) || (truth.squares == n && predicted.squares == n);
  }

  double n;
  std::vector<double> sizes;
  Sizes truth, predicted, pairs;
};

double of_entropy(double information, double entropy) { return entropy > 0 ? information / entropy : 1; }

/// Returns the expected mutual information of random groups of these sizes: the sum over all sizes that a pair of
/// groups may share, by the hypergeometric probability.
double expected_information(const Contingency& c) {
  const auto log_factorial = [](double x) { return std::lgamma(x + 1); };
  double sum = 0;
  for (const auto a : c.true_sizes())
    for (const auto b : c.predicted_sizes()) {
      const auto fixed =
          log_factorial(a) + log_factorial(b) + log_factorial(c.n - a) + log_factorial(c.n - b) - log_factorial(c.n);
      for (auto both = std::max(1.0, a + b - c.n); both <= std::min(a, b); ++both) {
        const auto log_probability = fixed - log_factorial(both) - log_factorial(a - both) - log_factorial(b - both) -
                                     log_factorial(c.n - a - b + both);
        sum += both / c.n * std::log(c.n * both / (a * b)) * std::exp(log_probability);
      }
    }
  return sum;
}

}  // namespace

double rand_score(const DNDarray& labels_true, const DNDarray& labels_pred) {
  const Contingency c("rand_score", labels_true, labels_pred);
  const auto pairs = c.n * c.n - c.n;
  return pairs > 0 ? (pairs + 2 * c.pairs.squares - c.truth.squares - c.predicted.squares) / pairs : 1;
}

double adjusted_rand_score(const DNDarray& labels_true, const DNDarray& labels_pred) {
  const Contingency c("adjusted_rand_score", labels_true, labels_pred);
  const auto together = c.pairs.squares - c.n;
  const auto only_true = c.truth.squares - c.pairs.squares, only_predicted = c.predicted.squares - c.pairs.squares;
  const auto apart = c.n * c.n - c.truth.squares - c.predicted.squares + c.pairs.squares;
  if (only_true == 0 && only_predicted == 0) return 1;
  return 2 * (together * apart - only_true * only_predicted) /
         ((together + only_true) * (only_true + apart) + (together + only_predicted) * (only_predicted + apart));
}

double fowlkes_mallows_score(const DNDarray& labels_true, const DNDarray& labels_pred) {
  const Contingency c("fowlkes_mallows_score", labels_true, labels_pred);
  const auto together = c.pairs.squares - c.n;
  return together > 0
             ? std::sqrt(together / (c.truth.squares - c.n)) * std::sqrt(together / (c.predicted.squares - c.n))
             : 0;
}

double mutual_info_score(const DNDarray& labels_true, const DNDarray& labels_pred) {
  return Contingency("mutual_info_score", labels_true, labels_pred).mutual_information();
}

double normalized_mutual_info_score(const DNDarray& labels_true, const DNDarray& labels_pred) {
  const Contingency c("normalized_mutual_info_score", labels_true, labels_pred);
  if (c.trivial()) return 1;
  const auto information = c.mutual_information();
  return information > 0 ? 2 * information / (c.entropy(c.truth) + c.entropy(c.predicted)) : 0;
}

double adjusted_mutual_info_score(const DNDarray& labels_true, const DNDarray& labels_pred) {
  const Contingency c("adjusted_mutual_info_score", labels_true, labels_pred);
  if (c.trivial()) return 1;
  constexpr auto least = std::numeric_limits<double>::epsilon();
  const auto expected = expected_information(c);
  const auto base = (c.entropy(c.truth) + c.entropy(c.predicted)) / 2 - expected;
  return (c.mutual_information() - expected) / (base < 0 ? std::min(base, -least) : std::max(base, least));
}

double homogeneity_score(const DNDarray& labels_true, const DNDarray& labels_pred) {
  const Contingency c("homogeneity_score", labels_true, labels_pred);
  return of_entropy(c.mutual_information(), c.entropy(c.truth));
}

double completeness_score(const DNDarray& labels_true, const DNDarray& labels_pred) {
  const Contingency c("completeness_score", labels_true, labels_pred);
  return of_entropy(c.mutual_information(), c.entropy(c.predicted));
}

double v_measure_score(const DNDarray& labels_true, const DNDarray& labels_pred, double beta) {
  const Contingency c("v_measure_score", labels_true, labels_pred);
  const auto information = c.mutual_information();
  const auto homogeneity = of_entropy(information, c.entropy(c.truth));
  const auto completeness = of_entropy(information, c.entropy(c.predicted));
  if (homogeneity + completeness == 0) return 0;
  return (1 + beta) * homogeneity * completeness / (beta * homogeneity + completeness);
}

}  // namespace heatpp
