#include <heatpp/ml/metrics/regression.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/ml/detail/column_moments.hpp>

#include <array>
#include <cmath>

namespace heatpp {
namespace {

using namespace ml::detail;

/// This rank's rows of true and predicted numbers, (n, outputs), in one cut.
struct Sides {
  at::Tensor truth, predicted;
  Layout layout;
  Communicator comm;
};

Sides sides(const char* op, const DNDarray& y_true, const DNDarray& y_pred) {
  if (y_true.shape() != y_pred.shape() || y_true.ndim() < 1 || y_true.ndim() > 2 || y_true.size() == 0)
    detail::raise<ValueError>(op, "got shapes {} and {}; expected vectors or matrices of one shape, not empty",
                              to_string(y_true.shape()), to_string(y_pred.shape()));
  const auto matrix = [](const DNDarray& y) -> Rows {
    if (y.ndim() == 2) return y;
    return detail::wrap(y.larray().unsqueeze(1), y.layout().along({y.size(), 1}, std::array{0, -1}), y.comm());
  };
  detail::check_same_comm(op, y_true.comm(), y_pred.comm());
  const auto a = matrix(y_true), b = matrix(y_pred);
  const auto& layout = (a.distributed() ? a : b).layout();
  const auto mine = [&](const Rows& y) {
    const auto block = detail::wrap(y.read(0, y.count()), y.layout(), y.comm());
    return detail::relayout_operand(op, block, layout, a.comm()).to(at::kCPU);
  };
  return {mine(a), mine(b), layout, a.comm()};
}

/// A source of true numbers, errors and absolute errors side by side, computed piece by piece.
class Residuals : public RowSource {
 public:
  explicit Residuals(Sides sides) : sides_(std::move(sides)) {}
  [[nodiscard]] at::Tensor read(std::int64_t first, std::int64_t count) const override {
    const auto truth = sides_.truth.narrow(0, first, count).to(at::kDouble);
    const auto error = truth - sides_.predicted.narrow(0, first, count).to(at::kDouble);
    return at::cat({truth, error, error.abs()}, 1);
  }

 private:
  Sides sides_;
};

Rows residuals(const char* op, const DNDarray& y_true, const DNDarray& y_pred) {
  auto both = sides(op, y_true, y_pred);
  const auto layout = both.layout;
  const auto comm = both.comm;
  return {std::make_shared<Residuals>(std::move(both)),
          layout.with({layout.shape()[0], 3 * layout.shape()[1]}, layout.split()), float64, comm};
}

/// Computes a metric from one output's moments; the result is the mean over outputs.
using Metric = double (*)(const Moments& truth, const Moments& error, const Moments& size);
double mean_of(const char* op, const DNDarray& y_true, const DNDarray& y_pred, const MetricOptions& options,
               Metric metric) {
  const auto rows = residuals(op, y_true, y_pred);
  const auto weights = weights_beside(op, rows, options.sample_weight);
  const auto moments = column_moments(op, rows, weights ? weights->const_data_ptr<double>() : nullptr);
  const auto outputs = moments.size() / 3;
  double sum = 0;
  for (std::size_t j = 0; j < outputs; ++j) sum += metric(moments[j], moments[outputs + j], moments[2 * outputs + j]);
  return sum / static_cast<double>(outputs);
}

double squares(const Moments& m) { return m.m2 + m.n * m.mean * m.mean; }
double explained(double unexplained, double all) {
  if (all == 0) return unexplained == 0 ? 1 : 0;
  return 1 - unexplained / all;
}

}  // namespace

#define HEATPP_METRIC(name, ...)                                                                    \
  double name(const DNDarray& y_true, const DNDarray& y_pred, const MetricOptions& options) {       \
    return mean_of(#name, y_true, y_pred, options,                                                  \
                   []([[maybe_unused]] const Moments& truth, [[maybe_unused]] const Moments& error, \
                      [[maybe_unused]] const Moments& size) -> double { return __VA_ARGS__; });     \
  }
HEATPP_METRIC(mean_squared_error, squares(error) / error.n)
HEATPP_METRIC(root_mean_squared_error, std::sqrt(squares(error) / error.n))
HEATPP_METRIC(mean_absolute_error, size.mean)
HEATPP_METRIC(explained_variance_score, explained(error.m2, truth.m2))
#undef HEATPP_METRIC

double r2_score(const DNDarray& y_true, const DNDarray& y_pred, const MetricOptions& options) {
  const auto score = mean_of(
      "r2_score", y_true, y_pred, options,
      [](const Moments& truth, const Moments& error, const Moments&) { return explained(squares(error), truth.m2); });
  return y_true.shape()[0] < 2 ? NAN : score;
}

double max_error(const DNDarray& y_true, const DNDarray& y_pred) {
  constexpr auto op = "max_error";
  const auto rows = residuals(op, y_true, y_pred);
  const auto outputs = rows.features() / 3;
  const auto largest = summed(
      rows, 1,
      [&](const auto& piece, std::span<double> most) {
        check_finite(op, rows, piece);
        for (std::int64_t i = 0; i < piece.rows; ++i)
          for (auto j = 2 * outputs; j < 3 * outputs; ++j)
            most[0] = std::max(most[0], static_cast<double>(piece.row(i)[j]));
      },
      ReduceOp::max);
  return largest[0];
}

}  // namespace heatpp
