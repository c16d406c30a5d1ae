#include <heatpp/ml/linear/detail/glm.hpp>

#include <heatpp/ml/detail/column_moments.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/detail/ending.hpp>

namespace heatpp::ml::detail {
namespace {

at::Tensor view(std::span<const double> numbers, std::int64_t rows, std::int64_t columns) {
  return at::from_blob(const_cast<double*>(numbers.data()), {rows, columns}, at::kDouble);
}

/// Scales a column to mean 0 and variance 1, (x - mean) / deviation, or without an intercept to mean square 1. The
/// penalty of squares counts as variance, since for nearly constant columns it would be so steep that steps for all
/// others became small. The widest column does not count it, so that even a strong penalty does not end the fit
/// early.
struct Scale {
  at::Tensor mean, deviation;
  double weight;  ///< total of all rows
};

Scale scale_of(const LinearLoss& problem) {
  const auto columns = column_moments(problem.op, problem.rows, problem.weights);
  auto mean = at::zeros({std::ssize(columns)}, at::kDouble), squares = at::zeros_like(mean);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const auto& [n, center, m2] = columns[j];
    squares.data_ptr<double>()[j] = m2 / n + (problem.intercept ? 0 : center * center);
    if (problem.intercept) mean.data_ptr<double>()[j] = center;
  }
  const auto weight = columns.front().n;
  const auto penalty = problem.beside == PenaltyBeside::sum ? problem.l2 / weight : problem.l2;
  const auto widest = squares.max();
  const auto deviation = at::sqrt(widest * (squares + penalty) / (widest + penalty)).masked_fill(squares <= 0, 1);
  return {mean, deviation, weight};
}

/// The objective for coefficients of scaled columns, with the shift behind them, (outputs, features + 1).
class ScaledLoss {
 public:
  ScaledLoss(const LinearLoss& problem, Scale scale, heatpp::detail::Watch& watch)
      : problem_(problem), scale_(std::move(scale)), f_(problem.rows.features()), watch_(watch) {
    if (problem.beside == PenaltyBeside::sum) losses_ = scale_.weight;
    l2_ = problem.l2 / losses_;
    if (sparse_rows(problem.rows)) offset_ = scale_.mean;
    else origin_ = scale_.mean;
  }

  /// Returns the penalty of each scaled coefficient and shift; empty if there is none.
  [[nodiscard]] std::vector<double> l1() const {
    if (problem_.l1 == 0) return {};
    const auto one = at::cat({problem_.l1 / losses_ / scale_.deviation, at::zeros({1}, at::kDouble)});
    const auto all = one.repeat({problem_.outputs});
    return {all.const_data_ptr<double>(), all.const_data_ptr<double>() + all.numel()};
  }

  [[nodiscard]] std::vector<double> scaled(const GlmFit& fit) const {
    const auto shift = fit.intercept + at::matmul(fit.coef, scale_.mean);
    const auto all = at::cat({fit.coef * scale_.deviation, shift.unsqueeze(1)}, 1).contiguous();
    return {all.const_data_ptr<double>(), all.const_data_ptr<double>() + all.numel()};
  }
  [[nodiscard]] GlmFit unscaled(const std::vector<double>& parameters) const {
    const auto all = view(parameters, problem_.outputs, f_ + 1);
    const auto coef = all.slice(1, 0, f_) / scale_.deviation;
    return {coef, all.select(1, f_) - at::matmul(coef, scale_.mean)};
  }

  double operator()(std::span<const double> parameters, std::span<double> gradient) const {
    const auto all = view(parameters, problem_.outputs, f_ + 1);
    const auto coef = (all.slice(1, 0, f_) / scale_.deviation).contiguous();
    const auto shift = all.select(1, f_);
    const auto sums = over_rows(coef.t().contiguous(), offset_.defined() ? shift - at::mv(coef, offset_) : shift);
    std::copy_n(sums.begin(), gradient.size(), gradient.begin());
    auto slopes = view(gradient, problem_.outputs, f_ + 1);
    if (offset_.defined()) slopes.slice(1, 0, f_).sub_(at::outer(slopes.select(1, f_), offset_));
    slopes /= scale_.weight;
    slopes.slice(1, 0, f_).add_(coef, l2_).div_(scale_.deviation);
    if (!problem_.intercept) slopes.select(1, f_).zero_();
    watch_.hear(sums[gradient.size() + 1]);
    return sums[gradient.size()] / scale_.weight + l2_ / 2 * coef.square().sum().item<double>();
  }

 private:
  /// Sums derivatives by coefficients and shifts, losses, and the number of ranks that ask for an end.
  [[nodiscard]] std::vector<double> over_rows(const at::Tensor& coef, const at::Tensor& shift) const {
    const auto k = problem_.outputs, width = f_ + 1;
    Totals totals(static_cast<std::size_t>(k * width + 2));
    totals.of(0)[static_cast<std::size_t>(k * width + 1)] = watch_.vote();
    const auto failure = heatpp::detail::failure_of([&] {
      for_row_blocks(problem_.rows, [&](const RowBlock& block, int thread) {
        const auto x = block.about(origin_);
        auto margins = x.times(coef).add_(shift);
        auto own = totals.of(thread);
        own[static_cast<std::size_t>(k * width)] += problem_.loss(margins, block.first());
        auto sums = view(own, k, width);
        x.add_adjoint(margins, sums.slice(1, 0, f_).t());
        sums.select(1, f_).add_(margins.sum(0));
      });
    });
    return totals.over_ranks(problem_.rows, failure);
  }

  const LinearLoss& problem_;
  Scale scale_;
  at::Tensor origin_, offset_;  ///< the mean, subtracted from the rows, or from the products of sparse rows
  std::int64_t f_;
  double losses_ = 1;  ///< the weight of the sum of losses to which penalties are added
  double l2_;          ///< added to the mean
  heatpp::detail::Watch& watch_;
};

}  // namespace

GlmFit fitted(const LinearLoss& problem, const GlmFit& start, const GlmOptions& options) {
  heatpp::detail::Watch watch;
  const ScaledLoss loss(problem, scale_of(problem), watch);
  auto parameters = loss.scaled(start);
  const auto progress = [&](std::int64_t done, double value) {
    if (watch.ended()) return false;
    watch.ask(options.progress, FitProgress{done, options.max_iterations, value});
    return true;
  };
  const auto found = lbfgs(loss, parameters, {options.max_iterations, options.tol, 10, loss.l1(), progress});
  watch.settle(problem.rows.comm(), problem.rows.distributed());
  auto fit = loss.unscaled(parameters);
  fit.iterations = found.iterations;
  fit.converged = found.converged;
  warn_unless(found.converged || watch.ended(), problem.op, found.iterations);
  return fit;
}

}  // namespace heatpp::ml::detail
