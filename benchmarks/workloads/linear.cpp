// Linear models.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

#include <heatpp/ml/linear/elastic_net.hpp>
#include <heatpp/ml/linear/logistic_regression.hpp>

namespace bench {
namespace {

/// Returns the coefficient of column j that the models should find.
double slope(std::int64_t j) {
  constexpr double slopes[]{0, 1, 0, -0.5};
  return slopes[j % 4];
}

/// Makes f(x coef + noise) for each row of x, with noise from a stream: a vector for the rows.
template <class F>
ht::DNDarray targets(const ht::DNDarray& x, double noise, std::uint64_t seed, F f) {
  using T = std::invoke_result_t<F, double>;
  const auto columns = x.shape()[1], first = x.layout().offset(x.comm().rank());
  const auto rows = x.local<float>();
  return generate({x.shape()[0]}, 0, [&](std::uint64_t i) -> T {
    const auto* row = rows.data() + (static_cast<std::int64_t>(i) - first) * columns;
    double y = 0;
    for (std::int64_t j = 0; j < columns; ++j) y += static_cast<double>(row[j]) * slope(j);
    return f(y + noise * static_cast<double>(normal(seed, i)));
  });
}

Prepared lasso(std::int64_t sweeps) {
  const auto x = generate<normal>(51, {1'000'000, 64});
  const auto y = targets(x, 0.1, 52, [](double z) { return static_cast<float>(z + 0.5); });
  return timed([=] { return ht::Lasso({.alpha = 0.1, .max_iterations = sweeps, .tol = 0}).fit(x, y); },
               [](const ht::Lasso& model) { return check_sums(model.coef()); });
}
Prepared lasso1() { return lasso(1); }
Prepared lasso10() { return lasso(10); }

Prepared logistic() {
  const auto x = generate<normal>(53, {1'000'000, 50});
  const auto y = targets(x, 2, 54, [](double z) -> std::int64_t { return z > 0; });
  return timed([=] { return ht::LogisticRegression().fit(x, y); },
               [](const ht::LogisticRegression& model) { return check_sums(ht::flatten(model.coef())); });
}

}  // namespace

std::vector<Workload> linear_workloads() {
  return {
      {"lasso1", "Gram, 1 sweep", lasso1}, {"lasso10", "Gram, 10 sweeps", lasso10}, {"logistic", "L-BFGS", logistic}};
}

}  // namespace bench
