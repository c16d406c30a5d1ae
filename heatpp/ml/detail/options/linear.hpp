#pragma once

#include <heatpp/ml/detail/options/fields.hpp>
#include <heatpp/ml/linear/elastic_net.hpp>
#include <heatpp/ml/linear/logistic_regression.hpp>
#include <heatpp/ml/linear/poisson_regressor.hpp>
#include <heatpp/ml/linear/ridge.hpp>

namespace heatpp::detail {

template <>
inline constexpr std::tuple fields_of<LinearRegressionOptions> = {
    Field{"intercept", &LinearRegressionOptions::intercept}};
template <>
inline constexpr std::tuple fields_of<RidgeOptions> = {Field{"alpha", &RidgeOptions::alpha},
                                                       Field{"intercept", &RidgeOptions::intercept}};
template <>
inline constexpr std::tuple fields_of<ElasticNetOptions> = {Field{"alpha", &ElasticNetOptions::alpha},
                                                            Field{"l1_ratio", &ElasticNetOptions::l1_ratio},
                                                            Field{"intercept", &ElasticNetOptions::intercept},
                                                            Field{"positive", &ElasticNetOptions::positive},
                                                            Field{"warm_start", &ElasticNetOptions::warm_start},
                                                            Field{"max_iterations", &ElasticNetOptions::max_iterations},
                                                            Field{"tol", &ElasticNetOptions::tol}};
template <>
inline constexpr std::tuple fields_of<PoissonOptions> = {Field{"alpha", &PoissonOptions::alpha},
                                                         Field{"intercept", &PoissonOptions::intercept},
                                                         Field{"warm_start", &PoissonOptions::warm_start},
                                                         Field{"max_iterations", &PoissonOptions::max_iterations},
                                                         Field{"tol", &PoissonOptions::tol},
                                                         own_field("progress", &PoissonOptions::progress)};
template <>
inline constexpr std::tuple fields_of<LogisticOptions> = {Field{"c", &LogisticOptions::c},
                                                          Field{"l1_ratio", &LogisticOptions::l1_ratio},
                                                          Field{"intercept", &LogisticOptions::intercept},
                                                          Field{"warm_start", &LogisticOptions::warm_start},
                                                          Field{"max_iterations", &LogisticOptions::max_iterations},
                                                          Field{"tol", &LogisticOptions::tol},
                                                          Field{"class_weight", &LogisticOptions::class_weight},
                                                          own_field("progress", &LogisticOptions::progress)};

}  // namespace heatpp::detail
