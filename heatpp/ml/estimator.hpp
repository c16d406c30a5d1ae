#pragma once

#include <heatpp/core/model_state.hpp>
#include <heatpp/core/rows.hpp>

// What all estimators have in common.
namespace heatpp {

/// What was asked of an estimator is known only after fit.
class NotFittedError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// How far a fit is, alike on every rank.
struct FitProgress {
  std::int64_t done = 0, total = 0;  ///< iterations
  double objective = 0;              ///< what is made small, before the iteration
};
/// Called after every iteration on every rank, until it returns false there; where any does the fit ends after the next
/// one. What it throws on one rank all throw, for which they agree at the end: one all-reduce of 8 bytes.
using FitCallback = std::function<bool(const FitProgress&)>;

/// What a fit may be told beside the rows.
struct FitOptions {
  std::optional<DNDarray> sample_weight = std::nullopt;  ///< a number for each row, any layout; nullopt: 1
};

/// What tells a classifier, also among models of a program's own: it knows its labels.
template <class Model>
concept HasClasses = requires(const Model& model) {
  model.classes();
};

}  // namespace heatpp
