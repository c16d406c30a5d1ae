#pragma once

#include <heatpp/ml/estimator.hpp>
#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heatpp {
namespace ml::detail {

/// Whether a step uses targets in its fit, which follow the rows as first argument.
template <class Step, class X, class... Targets>
struct LearnsTargets : std::false_type {};
template <class Step, class X, class... Rest>
requires requires(Step& step, const X& x, const DNDarray& y, const Rest&... rest) { step.fit(x, y, rest...); }
struct LearnsTargets<Step, X, DNDarray, Rest...> : std::true_type {};

}  // namespace ml::detail

/// Transformers and a last estimator or transformer, as one estimator: each step is fitted to the rows that the step
/// before has transformed.
///
///     ht::Pipeline model{ht::StandardScaler(), ht::KMeans({.n_clusters = 3})};
///     auto labels = model.fit(x).predict(y);
///
/// Communicates and throws as the steps do. A copy made before fit is a clone.
template <class... Steps>
class Pipeline {
  static_assert(sizeof...(Steps) > 0, "a pipeline has steps");
  static constexpr std::size_t last = sizeof...(Steps) - 1;
  using Last = std::tuple_element_t<last, std::tuple<Steps...>>;
  struct Itself {
    template <class Made>
    Made operator()(const Last&, const Made& made) const {
      return made;
    }
  };
  /// The rows that the last step gets.
  template <class X>
  using Made =
      decltype(std::declval<const Pipeline&>().template with_made<0>(std::declval<const X&>(), std::declval<Itself>()));

 public:
  explicit Pipeline(Steps... steps) : steps_(std::move(steps)...) {}

  // Rows are an array, or `Rows` if the first step takes them.
  /// Fits all steps; targets and FitOptions go to the last one, and to transformers that use targets.
  template <std::convertible_to<Rows> X, class... Targets>
  requires requires(Last& step, const Made<X>& made, const Targets&... targets) { step.fit(made, targets...); }
  Pipeline& fit(const X& x, const Targets&... targets) {
    fit_from<0>(x, targets...);
    return *this;
  }
  template <std::convertible_to<Rows> X>
  [[nodiscard]] DNDarray transform(const X& x) const {
    return with_made<0>(x, [](const auto& step, const auto& made) { return step.transform(made); });
  }
  template <std::convertible_to<Rows> X>
  [[nodiscard]] DNDarray fit_transform(const X& x) {
    return fit(x).transform(x);
  }
  template <std::convertible_to<Rows> X>
  [[nodiscard]] DNDarray predict(const X& x) const {
    return with_made<0>(x, [](const auto& step, const auto& made) { return step.predict(made); });
  }
  template <std::convertible_to<Rows> X>
  [[nodiscard]] DNDarray predict_proba(const X& x) const {
    return with_made<0>(x, [](const auto& step, const auto& made) { return step.predict_proba(made); });
  }
  /// Returns the classes of a classifier behind the transformers.
  [[nodiscard]] const DNDarray& classes() const requires HasClasses<Last> { return std::get<last>(steps_).classes(); }
  /// Returns the score of the last step for the rows and targets.
  template <std::convertible_to<Rows> X, class... Targets>
  requires requires(const Last& step, const Made<X>& made, const Targets&... targets) { step.score(made, targets...); }
  [[nodiscard]] double score(const X& x, const Targets&... targets) const {
    return with_made<0>(x, [&](const auto& step, const auto& made) { return step.score(made, targets...); });
  }
  /// Returns one step, with its fitted state.
  template <std::size_t I>
  [[nodiscard]] const auto& step() const {
    return std::get<I>(steps_);
  }

 private:
  template <std::size_t I, class X, class... Targets>
  void fit_from(const X& x, const Targets&... targets) {
    auto& step = std::get<I>(steps_);
    if constexpr (I == last) step.fit(x, targets...);
    else if constexpr (ml::detail::LearnsTargets<std::tuple_element_t<I, std::tuple<Steps...>>, X, Targets...>::value)
      fit_from<I + 1>(step.fit(x, targets...).transform(x), targets...);
    else fit_from<I + 1>(step.fit(x).transform(x), targets...);
  }
  /// Returns f(last step, rows that the transformers before it have transformed).
  template <std::size_t I, class X, class F>
  auto with_made(const X& x, F f) const {
    const auto& step = std::get<I>(steps_);
    if constexpr (I == last) return f(step, x);
    else return with_made<I + 1>(step.transform(x), f);
  }
  std::tuple<Steps...> steps_;
};

}  // namespace heatpp
