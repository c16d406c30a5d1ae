#pragma once

#include <heatpp/ml/detail/options/fields.hpp>
#include <heatpp/ml/tree/decision_tree.hpp>
#include <heatpp/ml/tree/hist_gradient_boosting.hpp>
#include <heatpp/ml/tree/random_forest.hpp>

namespace heatpp::ml::detail {

constexpr std::string_view of_mask = "mask ";

/// Returns positions as they are, and a mask as the word mask and its values.
[[nodiscard]] inline std::string text_of(const FeatureChoice& choice) {
  if (const auto* positions = std::get_if<std::vector<std::int64_t>>(&choice.given())) return text_of(*positions);
  const auto& mask = std::get<std::vector<bool>>(choice.given());
  return std::string(of_mask) + text_of(std::vector<int>(mask.begin(), mask.end()));
}

}  // namespace heatpp::ml::detail

namespace heatpp::detail {

template <>
inline constexpr std::array choice_names<MaxFeatures> = {"all", "sqrt"};
template <>
inline constexpr std::array choice_names<BoostingLoss> = {"squared_error", "poisson", "absolute_error", "quantile"};
template <>
struct FieldText<FeatureChoice> {
  static std::string of(const FeatureChoice& choice) { return formatted("[{}]", ml::detail::text_of(choice)); }
};
template <>
inline constexpr std::tuple fields_of<DecisionTreeOptions> = {
    Field{"max_depth", &DecisionTreeOptions::max_depth},
    Field{"min_samples_split", &DecisionTreeOptions::min_samples_split},
    Field{"min_samples_leaf", &DecisionTreeOptions::min_samples_leaf},
    Field{"max_features", &DecisionTreeOptions::max_features},
    Field{"max_bins", &DecisionTreeOptions::max_bins},
    Field{"seed", &DecisionTreeOptions::seed},
    Field{"class_weight", &DecisionTreeOptions::class_weight}};
template <>
inline constexpr std::tuple fields_of<RandomForestOptions> = {
    Field{"n_estimators", &RandomForestOptions::n_estimators},
    Field{"max_depth", &RandomForestOptions::max_depth},
    Field{"min_samples_split", &RandomForestOptions::min_samples_split},
    Field{"min_samples_leaf", &RandomForestOptions::min_samples_leaf},
    Field{"max_features", &RandomForestOptions::max_features},
    Field{"bootstrap", &RandomForestOptions::bootstrap},
    Field{"max_bins", &RandomForestOptions::max_bins},
    Field{"warm_start", &RandomForestOptions::warm_start},
    Field{"seed", &RandomForestOptions::seed},
    Field{"class_weight", &RandomForestOptions::class_weight},
    own_field("progress", &RandomForestOptions::progress)};
template <>
inline constexpr std::tuple fields_of<HistGradientBoostingOptions> = {
    Field{"loss", &HistGradientBoostingOptions::loss},
    Field{"quantile", &HistGradientBoostingOptions::quantile},
    Field{"learning_rate", &HistGradientBoostingOptions::learning_rate},
    Field{"max_iterations", &HistGradientBoostingOptions::max_iterations},
    Field{"max_leaf_nodes", &HistGradientBoostingOptions::max_leaf_nodes},
    Field{"max_depth", &HistGradientBoostingOptions::max_depth},
    Field{"min_samples_leaf", &HistGradientBoostingOptions::min_samples_leaf},
    Field{"l2_regularization", &HistGradientBoostingOptions::l2_regularization},
    Field{"max_bins", &HistGradientBoostingOptions::max_bins},
    Field{"monotonic_cst", &HistGradientBoostingOptions::monotonic_cst},
    Field{"categorical_features", &HistGradientBoostingOptions::categorical_features},
    Field{"warm_start", &HistGradientBoostingOptions::warm_start},
    Field{"early_stopping", &HistGradientBoostingOptions::early_stopping},
    Field{"validation_fraction", &HistGradientBoostingOptions::validation_fraction},
    Field{"n_iter_no_change", &HistGradientBoostingOptions::n_iter_no_change},
    Field{"tol", &HistGradientBoostingOptions::tol},
    Field{"seed", &HistGradientBoostingOptions::seed},
    Field{"class_weight", &HistGradientBoostingOptions::class_weight},
    own_field("progress", &HistGradientBoostingOptions::progress)};

}  // namespace heatpp::detail

namespace heatpp::ml::detail {

template <>
struct StateField<FeatureChoice> {
  static void write(Texts& texts, const char* name, const FeatureChoice& choice) {
    texts.emplace(name, text_of(choice));
  }
  static FeatureChoice read(const StateReader& read, const char* name) {
    const auto& text = read.text(name);
    if (!text.starts_with(of_mask)) return read.numbers<std::int64_t>(name);
    const auto mask = read.numbers_in<int>(name, std::string_view(text).substr(of_mask.size()));
    return std::vector<bool>(mask.begin(), mask.end());
  }
};

}  // namespace heatpp::ml::detail
