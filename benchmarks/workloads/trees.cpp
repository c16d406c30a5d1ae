// Trees: a million rows of 28 numbers, in two classes that no plane separates.
#include "../check.hpp"
#include "../data.hpp"
#include "../workload.hpp"

#include <heatpp/ml/metrics/classification.hpp>
#include <heatpp/ml/tree/hist_gradient_boosting.hpp>
#include <heatpp/ml/tree/random_forest.hpp>

namespace bench {
namespace {

constexpr std::int64_t rows = 1'000'000, columns = 28;

ht::DNDarray events() { return generate<normal>(55, {rows, columns}); }

ht::DNDarray signals(const ht::DNDarray& x) {
  const auto first = x.layout().offset(x.comm().rank());
  const auto numbers = x.local<float>();
  return generate({rows}, 0, [&](std::uint64_t i) -> std::int64_t {
    const auto* of_row = numbers.data() + (static_cast<std::int64_t>(i) - first) * columns;
    const auto at = [&](int j) { return static_cast<double>(of_row[j]); };
    const auto z = at(0) * at(2) + at(1) - at(3) / 2 + at(5) * at(5) / 2 - 0.5;
    return z + 1.5 * static_cast<double>(normal(56, i)) > 0;
  });
}

/// Returns the log loss and the accuracy of the model.
template <class Model>
std::vector<double> losses(const Model& model, const ht::DNDarray& x, const ht::DNDarray& y) {
  return {ht::log_loss(y, model.predict_proba(x)), ht::accuracy_score(y, model.predict(x))};
}

Prepared boosting() {
  const auto x = events(), y = signals(x);
  return timed([=] { return ht::HistGradientBoostingClassifier().fit(x, y); },
               [=](const auto& model) { return losses(model, x, y); });
}

Prepared forest() {
  const auto x = events(), y = signals(x);
  return timed([=] { return ht::RandomForestClassifier({.n_estimators = 16, .max_depth = 10}).fit(x, y); },
               [=](const auto& model) { return losses(model, x, y); });
}

}  // namespace

std::vector<Workload> tree_workloads() {
  return {{"boosting", "100 trees of 31 leaves", boosting}, {"forest", "16 trees of depth 10", forest}};
}

}  // namespace bench
