#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/metrics/classification.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {
namespace {

constexpr auto op = "classification_report";

/// The printed line of a label, or of an average.
struct Line {
  std::string name;
  double precision, recall, f1;
};

std::vector<double> values(const DNDarray& x) { return x.to_vector<double>(); }

/// Returns the lines of all labels.
std::vector<Line> lines_of(const PerClass& each, const ReportOptions& options) {
  const auto labels = each.labels.to_vector<std::int64_t>();
  const auto& names = options.target_names;
  if (!names.empty() && names.size() != labels.size())
    detail::raise<ValueError>(op, "got {} names for {} labels; expected one for each", names.size(), labels.size());
  const auto precision = values(each.precision), recall = values(each.recall), f1 = values(each.f1);
  std::vector<Line> lines;
  for (std::size_t c = 0; c < labels.size(); ++c)
    lines.push_back({names.empty() ? std::to_string(labels[c]) : names[c], precision[c], recall[c], f1[c]});
  return lines;
}

/// Returns the weighted mean of the lines.
Line mean_of(const std::string& name, const std::vector<Line>& lines, const std::vector<double>& weights) {
  Line mean{name, 0, 0, 0};
  const auto all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t c = 0; c < lines.size(); ++c) {
    mean.precision += weights[c] / all * lines[c].precision;
    mean.recall += weights[c] / all * lines[c].recall;
    mean.f1 += weights[c] / all * lines[c].f1;
  }
  return mean;
}

}  // namespace

std::string classification_report(const DNDarray& y_true, const DNDarray& y_pred, const ReportOptions& options) {
  if (options.digits < 0 || options.digits > 20)
    detail::raise<ValueError>(op, "got {} digits; expected 0 to 20", options.digits);
  const auto each = precision_recall_fscore_support(
      y_true, y_pred, {.sample_weight = options.sample_weight, .zero_division = options.zero_division});
  const auto lines = lines_of(each, options);
  const auto support = values(each.support);
  const std::vector<double> alike(lines.size(), 1.0);
  const auto macro = mean_of("macro avg", lines, alike), weighted = mean_of("weighted avg", lines, support);
  auto width = weighted.name.size();
  for (const auto& line : lines) width = std::max(width, line.name.size());
  const auto digits = static_cast<int>(options.digits);
  const auto of = [&](double weight) {
    return options.sample_weight ? detail::formatted("{}", weight) : detail::formatted("{:.0f}", weight);
  };
  const auto all = std::accumulate(support.begin(), support.end(), 0.0);
  const auto row = [&](const Line& line, double weight) {
    return detail::formatted("{:>{}}  {:>9.{}f} {:>9.{}f} {:>9.{}f} {:>9}\n", line.name, width, line.precision, digits,
                             line.recall, digits, line.f1, digits, of(weight));
  };
  auto text =
      detail::formatted("{:>{}}  {:>9} {:>9} {:>9} {:>9}\n\n", "", width, "precision", "recall", "f1-score", "support");
  for (std::size_t c = 0; c < lines.size(); ++c) text += row(lines[c], support[c]);
  // The weighted recall is the share of rows that are right, i.e. the accuracy.
  text += detail::formatted("\n{:>{}}  {:>9} {:>9} {:>9.{}f} {:>9}\n", "accuracy", width, "", "", weighted.recall,
                            digits, of(all));
  return text + row(macro, all) + row(weighted, all);
}

}  // namespace heatpp
