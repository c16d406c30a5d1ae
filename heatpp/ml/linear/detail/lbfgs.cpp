#include <heatpp/ml/linear/detail/lbfgs.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>

namespace heatpp::ml::detail {
namespace {

using Vector = std::vector<double>;
constexpr auto machine_eps = std::numeric_limits<double>::epsilon();

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

void add(Vector& to, double factor, const Vector& x) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * x[i];
}

double largest(const Vector& x) {
  double result = 0;
  for (const auto number : x) result = std::max(result, std::abs(number));
  return result;
}

struct Point {
  Vector x, gradient;
  Vector slopes;  ///< the gradient with l1; if |x_i| has none, the subgradient nearest to 0
  double value;
};

/// An objective to minimize, and the weights of l1.
struct Problem {
  const Objective& objective;
  const Vector& l1;

  [[nodiscard]] Point at(Vector x) const {
    Point point{std::move(x), {}, {}, 0};
    point.gradient.resize(point.x.size());
    point.value = objective(point.x, point.gradient);
    point.slopes = point.gradient;
    for (std::size_t i = 0; i < l1.size(); ++i) {
      auto& slope = point.slopes[i];
      point.value += l1[i] * std::abs(point.x[i]);
      slope = point.x[i] != 0 ? slope + std::copysign(l1[i], point.x[i])
                              : std::copysign(std::max(0.0, std::abs(slope) - l1[i]), slope);
    }
    return point;
  }
  /// Sets to 0 what is not downhill in a direction, so that no number of x leaves its orthant from 0.
  void downhill(Vector& direction, const Point& from) const {
    for (std::size_t i = 0; i < l1.size(); ++i)
      if (l1[i] > 0 && direction[i] * from.slopes[i] > 0) direction[i] = 0;
  }
  /// Sets to 0 numbers that have left the orthant in which `from` is or into which it moves.
  void to_orthant(Vector& x, const Point& from) const {
    for (std::size_t i = 0; i < l1.size(); ++i)
      if (l1[i] > 0 && x[i] * (from.x[i] != 0 ? from.x[i] : -from.slopes[i]) <= 0) x[i] = 0;
  }
};

/// The curvature found by the last steps.
class Curvature {
 public:
  explicit Curvature(std::size_t memory) : memory_(memory) {}
  [[nodiscard]] bool empty() const { return pairs_.empty(); }
  void forget() { pairs_.clear(); }
  void learn(const Point& from, const Point& to) {
    Pair pair{to.x, to.gradient, 0};
    add(pair.step, -1, from.x);
    add(pair.change, -1, from.gradient);
    pair.product = dot(pair.step, pair.change);
    if (!(pair.product > machine_eps * dot(pair.change, pair.change))) return;
    pairs_.push_back(std::move(pair));
    if (pairs_.size() > memory_) pairs_.pop_front();
  }
  /// Returns minus the gradient times the approximate inverse Hessian.
  [[nodiscard]] Vector direction(const Vector& gradient) const {
    auto d = gradient;
    Vector along(pairs_.size());
    for (auto i = pairs_.size(); i-- > 0;)
      add(d, -(along[i] = dot(pairs_[i].step, d) / pairs_[i].product), pairs_[i].change);
    const auto scale = pairs_.empty() ? 1.0 : pairs_.back().product / dot(pairs_.back().change, pairs_.back().change);
    for (auto& number : d) number *= scale;
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      add(d, along[i] - dot(pairs_[i].change, d) / pairs_[i].product, pairs_[i].step);
    for (auto& number : d) number = -number;
    return d;
  }

 private:
  struct Pair {
    Vector step, change;
    double product;
  };
  std::size_t memory_;
  std::deque<Pair> pairs_;
};

constexpr double lower = 1e-4;
constexpr int most_tries = 40;

/// Searches from `step` on for a point along `direction` that is low and flat enough (Wolfe's conditions).
std::optional<Point> searched(const Problem& problem, const Point& from, const Vector& direction, double step) {
  constexpr double flatter = 0.9;
  const auto slope = dot(from.gradient, direction), rounding = 8 * machine_eps * std::abs(from.value);
  double shortest = 0, longest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < most_tries; ++i) {
    auto x = from.x;
    add(x, step, direction);
    auto point = problem.at(std::move(x));
    const auto rise = point.value - from.value, slope_there = dot(point.gradient, direction);
    const bool low = rise <= lower * step * slope || (rise <= rounding && slope_there <= (2 * lower - 1) * slope);
    if (low && slope_there >= flatter * slope) return point;
    (low ? shortest : longest) = step;
    if (low) {
      step = std::isfinite(longest) ? (shortest + longest) / 2 : 4 * step;
    } else {
      const auto lowest = -slope * step * step / (2 * (rise - slope * step));  // minimum of the interpolating parabola
      const auto width = longest - shortest;
      step = std::isfinite(lowest) ? std::clamp(lowest, shortest + 0.1 * width, shortest + 0.5 * width)
                                   : shortest + 0.1 * width;
    }
  }
  return std::nullopt;
}

/// Searches in the orthant of `from` by halving the step, until the value has fallen enough.
std::optional<Point> searched_in_orthant(const Problem& problem, const Point& from, const Vector& direction,
                                         double step) {
  const auto rounding = 8 * machine_eps * std::abs(from.value);
  for (int i = 0; i < most_tries; ++i, step /= 2) {
    auto x = from.x;
    add(x, step, direction);
    problem.to_orthant(x, from);
    auto point = problem.at(std::move(x));
    const auto along = dot(from.slopes, point.x) - dot(from.slopes, from.x);
    const auto rise = point.value - from.value;
    if (rise <= lower * along || (rise <= rounding && largest(point.slopes) < largest(from.slopes))) return point;
  }
  return std::nullopt;
}

}  // namespace

Minimum lbfgs(const Objective& objective, std::vector<double>& x, const LbfgsOptions& options) {
  const Problem problem{objective, options.l1};
  const auto search = options.l1.empty() ? searched : searched_in_orthant;
  auto point = problem.at(x);
  Curvature curvature(options.memory);
  std::int64_t iteration = 0;
  bool converged = largest(point.slopes) <= options.tol;
  while (!converged && iteration < options.max_iterations) {
    auto direction = curvature.direction(point.slopes);
    problem.downhill(direction, point);
    if (!(dot(direction, point.slopes) < 0)) {
      curvature.forget();
      direction = curvature.direction(point.slopes);
    }
    const auto length = std::sqrt(dot(point.slopes, point.slopes));
    auto next = search(problem, point, direction, curvature.empty() ? 1 / std::max(1.0, length) : 1.0);
    if (!next) break;  // only rounding is left
    curvature.learn(point, *next);
    point = std::move(*next);
    ++iteration;
    converged = largest(point.slopes) <= options.tol;
    if (options.progress && !options.progress(iteration, point.value)) break;
  }
  x = point.x;
  return {point.value, iteration, converged};
}

}  // namespace heatpp::ml::detail
