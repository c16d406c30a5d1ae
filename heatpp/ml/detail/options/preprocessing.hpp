#pragma once

#include <heatpp/ml/detail/options/fields.hpp>
#include <heatpp/ml/preprocessing/encoders.hpp>
#include <heatpp/ml/preprocessing/imputer.hpp>
#include <heatpp/ml/preprocessing/polynomial.hpp>
#include <heatpp/ml/preprocessing/quantile_transformer.hpp>
#include <heatpp/ml/preprocessing/scalers.hpp>

namespace heatpp::detail {

template <>
inline constexpr std::array choice_names<Impute> = {"mean", "median", "most_frequent", "constant"};
template <>
inline constexpr std::array choice_names<QuantileOutput> = {"uniform", "normal"};
template <>
inline constexpr std::array choice_names<Unknown> = {"error", "ignore"};
template <>
struct FieldText<std::pair<double, double>> {
  static std::string of(const std::pair<double, double>& pair) {
    return formatted("({}, {})", pair.first, pair.second);
  }
};
template <>
inline constexpr std::tuple fields_of<StandardScalerOptions> = {Field{"with_mean", &StandardScalerOptions::with_mean},
                                                                Field{"with_std", &StandardScalerOptions::with_std}};
template <>
inline constexpr std::tuple fields_of<MinMaxScalerOptions> = {Field{"low", &MinMaxScalerOptions::low},
                                                              Field{"high", &MinMaxScalerOptions::high},
                                                              Field{"clip", &MinMaxScalerOptions::clip}};
template <>
inline constexpr std::tuple fields_of<RobustScalerOptions> = {
    Field{"with_centering", &RobustScalerOptions::with_centering},
    Field{"with_scaling", &RobustScalerOptions::with_scaling},
    Field{"quantile_range", &RobustScalerOptions::quantile_range},
    Field{"unit_variance", &RobustScalerOptions::unit_variance}};
template <>
inline constexpr std::tuple fields_of<SimpleImputerOptions> = {Field{"strategy", &SimpleImputerOptions::strategy},
                                                               Field{"fill_value", &SimpleImputerOptions::fill_value}};
template <>
inline constexpr std::tuple fields_of<PolynomialFeaturesOptions> = {
    Field{"degree", &PolynomialFeaturesOptions::degree},
    Field{"interaction_only", &PolynomialFeaturesOptions::interaction_only},
    Field{"include_bias", &PolynomialFeaturesOptions::include_bias}};
template <>
inline constexpr std::tuple fields_of<QuantileTransformerOptions> = {
    Field{"n_quantiles", &QuantileTransformerOptions::n_quantiles},
    Field{"output", &QuantileTransformerOptions::output}};
template <>
inline constexpr std::tuple fields_of<OneHotEncoderOptions> = {Field{"unknown", &OneHotEncoderOptions::unknown},
                                                               Field{"dtype", &OneHotEncoderOptions::dtype}};

}  // namespace heatpp::detail
