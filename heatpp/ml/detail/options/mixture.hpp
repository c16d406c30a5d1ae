#pragma once

#include <heatpp/ml/detail/options/fields.hpp>
#include <heatpp/ml/mixture/gaussian_mixture.hpp>

namespace heatpp::detail {

template <>
inline constexpr std::array choice_names<CovarianceType> = {"full", "tied", "diag", "spherical"};
template <>
inline constexpr std::array choice_names<MixtureInit> = {"kmeans", "plus_plus", "random"};
template <>
inline constexpr std::tuple fields_of<GaussianMixtureOptions> = {
    Field{"n_components", &GaussianMixtureOptions::n_components},
    Field{"covariance_type", &GaussianMixtureOptions::covariance_type},
    Field{"init", &GaussianMixtureOptions::init},
    own_field("weights_init", &GaussianMixtureOptions::weights_init),
    own_field("means_init", &GaussianMixtureOptions::means_init),
    own_field("precisions_init", &GaussianMixtureOptions::precisions_init),
    Field{"n_init", &GaussianMixtureOptions::n_init},
    Field{"max_iterations", &GaussianMixtureOptions::max_iterations},
    Field{"tol", &GaussianMixtureOptions::tol},
    Field{"reg_covar", &GaussianMixtureOptions::reg_covar},
    Field{"seed", &GaussianMixtureOptions::seed},
    Field{"warm_start", &GaussianMixtureOptions::warm_start},
    own_field("progress", &GaussianMixtureOptions::progress)};

}  // namespace heatpp::detail
