#include <heatpp/ops/statistics/detail/bin_rules.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/ops/reductions/moments.hpp>
#include <heatpp/ops/reductions/reduce.hpp>
#include <heatpp/ops/statistics/order.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace heatpp::detail {
namespace {

using Range = std::pair<double, double>;

/// The input of the rules: the elements in float64, their number and extremes.
struct Sample {
  DNDarray x;
  double n;
  Range ends;
  [[nodiscard]] double width() const { return ends.second - ends.first; }
};

double value_of(const DNDarray& x) { return x.item<double>(); }

double by_sqrt(const Sample& s) { return s.width() / std::sqrt(s.n); }
double by_sturges(const Sample& s) { return s.width() / (std::log2(s.n) + 1); }
double by_rice(const Sample& s) { return s.width() / (2 * std::cbrt(s.n)); }
double by_scott(const Sample& s) { return std::cbrt(24 * std::sqrt(std::numbers::pi) / s.n) * value_of(std(s.x)); }
double by_fd(const Sample& s) {
  const auto quartiles = percentile(s.x, {25, 75}).to_vector<double>();
  return 2 * (quartiles[1] - quartiles[0]) / std::cbrt(s.n);
}
double by_auto(const Sample& s) { return std::min(std::max(by_fd(s), by_sqrt(s) / 2), by_sturges(s)); }
double by_doane(const Sample& s) {
  if (s.n <= 2 || s.width() == 0) return 0;
  const auto spread = std::sqrt(6 * (s.n - 2) / ((s.n + 1) * (s.n + 3)));
  return s.width() / (1 + std::log2(s.n) + std::log2(1 + std::abs(value_of(skew(s.x))) / spread));
}

/// Cross-validates over all numbers of bins (Stone 1984).
double by_stone(const Sample& s, const Range& range) {
  if (s.n <= 1 || s.width() == 0) return 0;
  const auto most = std::max<std::int64_t>(100, static_cast<std::int64_t>(std::sqrt(s.n)));
  std::int64_t best = 1;
  double least = INFINITY;
  for (std::int64_t bins = 1; bins <= most; ++bins) {
    double squares = 0;
    for (const auto count : histogram(s.x, {.bins = bins, .range = range}).first.to_vector<std::int64_t>())
      squares += static_cast<double>(count) / s.n * (static_cast<double>(count) / s.n);
    const auto loss = (2 - (s.n + 1) * squares) / (s.width() / static_cast<double>(bins));
    if (loss < least) std::tie(least, best) = std::pair(loss, bins);
  }
  return s.width() / static_cast<double>(best);
}

struct Rule {
  std::string_view name;
  double (*width)(const Sample&);
};
constexpr std::array rules{Rule{"auto", by_auto},      Rule{"doane", by_doane}, Rule{"fd", by_fd},
                           Rule{"rice", by_rice},      Rule{"scott", by_scott}, Rule{"sqrt", by_sqrt},
                           Rule{"sturges", by_sturges}};

}  // namespace

std::int64_t bins_by_rule(const char* op, const DNDarray& x, const HistogramOptions& options) {
  const auto rule = std::ranges::find(rules, options.rule, &Rule::name);
  if ((rule == rules.end() && options.rule != "stone") || options.weights || options.edges)
    raise<ValueError>(op, "got the rule \"{}\"{}; expected auto, doane, fd, rice, scott, sqrt, stone or sturges alone",
                      options.rule, options.weights || options.edges ? " beside weights or edges" : "");
  const auto not_empty = [](const Range& r) { return r.first == r.second ? Range{r.first - 0.5, r.second + 0.5} : r; };
  const auto given = options.range ? std::optional(not_empty(*options.range)) : std::nullopt;
  auto inside = x.astype(float64);
  if (given) inside = inside.index({logical_and(inside >= given->first, inside <= given->second)});
  if (inside.size() == 0) return 1;
  const Sample sample{inside, static_cast<double>(inside.size()), {value_of(min(inside)), value_of(max(inside))}};
  const auto range = given.value_or(not_empty(sample.ends));
  if (!std::isfinite(range.first) || !std::isfinite(range.second)) return 1;  // it is refused later
  auto width = options.rule == "stone" ? by_stone(sample, range) : rule->width(sample);
  if (!(width > 0)) return 1;
  if (is_whole(x.dtype())) width = std::max(width, 1.0);
  constexpr double too_many = 1e18;  // it is refused later, too
  return static_cast<std::int64_t>(std::min(too_many, std::ceil((range.second - range.first) / width)));
}

}  // namespace heatpp::detail
