#pragma once

#include <heatpp/ml/detail/options/fields.hpp>
#include <heatpp/ml/discriminant/linear_discriminant_analysis.hpp>
#include <heatpp/ml/naive_bayes/discrete_nb.hpp>
#include <heatpp/ml/naive_bayes/gaussian_nb.hpp>

namespace heatpp::detail {

template <>
inline constexpr std::tuple fields_of<LinearDiscriminantOptions> = {
    Field{"priors", &LinearDiscriminantOptions::priors},
    Field{"n_components", &LinearDiscriminantOptions::n_components}, Field{"tol", &LinearDiscriminantOptions::tol}};
template <>
inline constexpr std::tuple fields_of<GaussianNBOptions> = {Field{"priors", &GaussianNBOptions::priors},
                                                            Field{"var_smoothing", &GaussianNBOptions::var_smoothing}};
template <>
inline constexpr std::tuple fields_of<MultinomialNBOptions> = {Field{"alpha", &MultinomialNBOptions::alpha},
                                                               Field{"fit_prior", &MultinomialNBOptions::fit_prior}};
template <>
inline constexpr std::tuple fields_of<BernoulliNBOptions> = {Field{"alpha", &BernoulliNBOptions::alpha},
                                                             Field{"binarize", &BernoulliNBOptions::binarize},
                                                             Field{"fit_prior", &BernoulliNBOptions::fit_prior}};

}  // namespace heatpp::detail
