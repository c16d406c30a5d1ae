#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/metrics/detail/found.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {
namespace {

using namespace ml::detail;

constexpr auto op = "classification_report";

/// The printed line of a label, or of an average.
struct Line {
  std::string name;
  double precision, recall, f1;
};

/// Returns the lines of all labels.
std::vector<Line> lines_of(const Found& found, const ReportOptions& options) {
  const auto labels = found.labels();
  const auto& names = options.target_names;
  if (!names.empty() && names.size() != labels.size())
    detail::raise<ValueError>(op, "got {} names for {} labels; expected one for each", names.size(), labels.size());
  const auto scores = [&](Score score) { return scores_of(score, found, options.zero_division); };
  const auto precision = scores(Score::precision), recall = scores(Score::recall), f1 = scores(Score::f1);
  std::vector<Line> lines;
  for (std::size_t c = 0; c < labels.size(); ++c)
    lines.push_back({names.empty() ? std::to_string(labels[c]) : names[c], precision[c], recall[c], f1[c]});
  return lines;
}

/// Returns the line of an average over labels.
Line average_line(const char* name, const Found& found, ScoreAverage average, double zero_division) {
  const auto mean = [&](Score score) { return average_of(score, found, average, zero_division); };
  return {name, mean(Score::precision), mean(Score::recall), mean(Score::f1)};
}

/// Whether all labels that occur are among those wanted, so that the micro average is the accuracy.
bool complete(const Found& all, const std::vector<std::int64_t>& wanted) {
  return wanted.empty() ||
         std::ranges::all_of(all.labels(), [&](auto label) { return std::ranges::count(wanted, label); });
}

}  // namespace

std::string classification_report(const DNDarray& y_true, const DNDarray& y_pred, const ReportOptions& options) {
  if (options.digits < 0 || options.digits > 20)
    detail::raise<ValueError>(op, "got {} digits; expected 0 to 20", options.digits);
  check_different(op, options.labels);
  const Found all(LabelPairs(op, y_true, y_pred, options.sample_weight)), found = all.of(options.labels);
  const auto lines = lines_of(found, options);
  const auto average = [&](const char* name, ScoreAverage of) {
    return average_line(name, found, of, options.zero_division);
  };
  const auto macro = average("macro avg", ScoreAverage::macro),
             weighted = average("weighted avg", ScoreAverage::weighted);
  auto width = std::max(weighted.name.size(), static_cast<std::size_t>(options.digits));
  for (const auto& line : lines) width = std::max(width, line.name.size());
  const auto digits = static_cast<int>(options.digits);
  const auto of = [&](double weight) {
    return options.sample_weight ? detail::formatted("{}", weight) : detail::formatted("{:.0f}", weight);
  };
  const auto support = found.truth();
  const auto total = std::accumulate(support.begin(), support.end(), 0.0);
  const auto row = [&](const Line& line, double weight) {
    return detail::formatted("{:>{}}  {:>9.{}f} {:>9.{}f} {:>9.{}f} {:>9}\n", line.name, width, line.precision, digits,
                             line.recall, digits, line.f1, digits, of(weight));
  };
  auto text =
      detail::formatted("{:>{}}  {:>9} {:>9} {:>9} {:>9}\n\n", "", width, "precision", "recall", "f1-score", "support");
  for (std::size_t c = 0; c < lines.size(); ++c) text += row(lines[c], support[c]);
  const auto micro = average("micro avg", ScoreAverage::micro);
  text += "\n";
  text += complete(all, options.labels) ? detail::formatted("{:>{}}  {:>9} {:>9} {:>9.{}f} {:>9}\n", "accuracy", width,
                                                            "", "", micro.f1, digits, of(total))
                                        : row(micro, total);
  return text + row(macro, total) + row(weighted, total);
}

}  // namespace heatpp
