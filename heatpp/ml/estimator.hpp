#pragma once

#include <heatpp/core/model_state.hpp>
#include <heatpp/core/rows.hpp>

// Types that all estimators use.
namespace heatpp {

/// The error for a call that needs a fitted estimator.
class NotFittedError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// The progress of a fit, equal on every rank.
struct FitProgress {
  std::int64_t done = 0, total = 0;  ///< iterations
  double objective = 0;              ///< the objective that the fit minimizes, before the iteration
};
/// Called on every rank after each iteration. If it returns false on any rank, the fit ends after the next iteration.
/// An error on one rank is thrown on all; they agree on it at the end by one all-reduce of 8 bytes.
using FitCallback = std::function<bool(const FitProgress&)>;

/// Options of a fit besides the rows.
struct FitOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;  ///< a number for each row, any layout; nullopt: 1
};

/// Whether a model, also of a user's own class, is a classifier: it has classes().
template <class Model>
concept HasClasses = requires(const Model& model) {
  model.classes();
};

}  // namespace heatpp
