#include <heatpp/ml/linear/detail/coordinate_descent.hpp>

namespace heatpp::ml::detail {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

class Descent {
 public:
  Descent(const Quadratic& problem, const Penalties& penalties, bool positive, std::span<double> w)
      : q_(problem.q.contiguous()),
        b_(problem.b.const_data_ptr<double>(), w.size()),
        yy_(problem.yy),
        penalties_(penalties),
        positive_(positive),
        w_(w),
        qw_(w.size()) {
    for (std::size_t j = 0; j < w.size(); ++j) qw_[j] = dot(row(j), w_);
  }

  /// Does one sweep; returns whether no coordinate changed by more than `tol` times the largest one.
  bool sweep(double tol) {
    double change = 0, largest = 0;
    for (std::size_t j = 0; j < w_.size(); ++j) {
      change = std::max(change, std::abs(step(j)));
      largest = std::max(largest, std::abs(w_[j]));
    }
    return largest == 0 || change <= tol * largest;
  }

  [[nodiscard]] double gap() const {
    const auto wb = dot(w_, b_), residual = std::max(0.0, yy_ + dot(w_, qw_) - 2 * wb);
    double steepest = positive_ ? -std::numeric_limits<double>::infinity() : 0, norm1 = 0;
    for (std::size_t j = 0; j < w_.size(); ++j) {
      const auto slope = b_[j] - qw_[j] - penalties_.l2 * w_[j];
      steepest = std::max(steepest, positive_ ? slope : std::abs(slope));
      norm1 += std::abs(w_[j]);
    }
    const auto scale = steepest > penalties_.l1 ? penalties_.l1 / steepest : 1.0;
    return 0.5 * residual * (1 + scale * scale) + penalties_.l1 * norm1 - scale * (yy_ - wb) +
           0.5 * penalties_.l2 * (1 + scale * scale) * dot(w_, w_);
  }

 private:
  [[nodiscard]] std::span<const double> row(std::size_t j) const {
    return {q_.const_data_ptr<double>() + j * w_.size(), w_.size()};
  }
  /// Moves a coordinate to the minimum of the objective, and returns the change.
  double step(std::size_t j) {
    const auto products = row(j);
    const auto curvature = products[j] + penalties_.l2;
    if (!(curvature > 0)) return 0;
    const auto slope = b_[j] - qw_[j] + products[j] * w_[j];
    const auto size = std::max(0.0, (positive_ ? slope : std::abs(slope)) - penalties_.l1) / curvature;
    const auto to = size > 0 ? std::copysign(size, slope) : 0.0, by = to - w_[j];
    if (by == 0) return 0;
    w_[j] = to;
    for (std::size_t i = 0; i < qw_.size(); ++i) qw_[i] += by * products[i];
    return by;
  }

  at::Tensor q_;
  std::span<const double> b_;
  double yy_;
  Penalties penalties_;
  bool positive_;
  std::span<double> w_;
  std::vector<double> qw_;
};

}  // namespace

Descended coordinate_descent(const Quadratic& problem, const Penalties& penalties, const DescentOptions& options,
                             std::span<double> w) {
  Descent descent(problem, penalties, options.positive, w);
  for (std::int64_t i = 1; i <= options.max_iterations; ++i) {
    const auto still = descent.sweep(options.tol);
    if (!still && i < options.max_iterations) continue;
    const auto gap = descent.gap();
    // Without l1 the gap is no measure of the distance from the minimum.
    const auto near = penalties.l1 > 0 ? gap <= options.tol * problem.yy : still;
    if ((options.tol > 0 && near) || i == options.max_iterations) return {gap, i, near};
  }
  return {descent.gap(), 0, false};
}

}  // namespace heatpp::ml::detail
