#include <heatpp/ml/detail/lbfgs.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>

namespace heatpp::ml::detail {
namespace {

using Vector = std::vector<double>;
constexpr auto eps = std::numeric_limits<double>::epsilon();

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
  double value;
};

Point at_point(const Objective& objective, Vector x) {
  Point point{std::move(x), {}, 0};
  point.gradient.resize(point.x.size());
  point.value = objective(point.x, point.gradient);
  return point;
}

/// The curvature that the last steps have shown.
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
    if (!(pair.product > eps * dot(pair.change, pair.change))) return;
    pairs_.push_back(std::move(pair));
    if (pairs_.size() > memory_) pairs_.pop_front();
  }
  /// Minus the gradient, times the inverse Hessian as far as it is known.
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

/// The point at a step along `direction` that is lower and flatter enough, from `step` on.
std::optional<Point> searched(const Objective& objective, const Point& from, const Vector& direction, double step) {
  constexpr double lower = 1e-4, flatter = 0.9;
  constexpr int most_tries = 40;
  const auto slope = dot(from.gradient, direction), rounding = 8 * eps * std::abs(from.value);
  double shortest = 0, longest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < most_tries; ++i) {
    auto x = from.x;
    add(x, step, direction);
    auto point = at_point(objective, std::move(x));
    const auto rise = point.value - from.value, slope_there = dot(point.gradient, direction);
    const bool low = rise <= lower * step * slope || (rise <= rounding && slope_there <= (2 * lower - 1) * slope);
    if (low && slope_there >= flatter * slope) return point;
    (low ? shortest : longest) = step;
    if (low) {
      step = std::isfinite(longest) ? (shortest + longest) / 2 : 4 * step;
    } else {
      const auto lowest = -slope * step * step / (2 * (rise - slope * step));  // of the parabola through what is known
      const auto width = longest - shortest;
      step = std::isfinite(lowest) ? std::clamp(lowest, shortest + 0.1 * width, shortest + 0.5 * width)
                                   : shortest + 0.1 * width;
    }
  }
  return std::nullopt;
}

}  // namespace

Minimum lbfgs(const Objective& objective, std::vector<double>& x, const LbfgsOptions& options) {
  auto point = at_point(objective, x);
  Curvature curvature(options.memory);
  std::int64_t iteration = 0;
  bool converged = largest(point.gradient) <= options.tol;
  while (!converged && iteration < options.max_iterations) {
    auto direction = curvature.direction(point.gradient);
    if (!(dot(direction, point.gradient) < 0)) {
      curvature.forget();
      direction = curvature.direction(point.gradient);
    }
    const auto length = std::sqrt(dot(point.gradient, point.gradient));
    auto next = searched(objective, point, direction, curvature.empty() ? 1 / std::max(1.0, length) : 1.0);
    if (!next) break;  // rounding is all that is left
    curvature.learn(point, *next);
    point = std::move(*next);
    ++iteration;
    converged = largest(point.gradient) <= options.tol;
    if (options.progress && !options.progress(iteration, point.value)) break;
  }
  x = point.x;
  return {point.value, iteration, converged};
}

}  // namespace heatpp::ml::detail
