#pragma once

#include <heatpp/ml/detail/options/neighbors.hpp>
#include <heatpp/ml/cluster/batch_parallel.hpp>
#include <heatpp/ml/cluster/dbscan.hpp>
#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/cluster/minibatch_kmeans.hpp>
#include <heatpp/ml/cluster/spectral.hpp>

namespace heatpp::ml::detail {

using CentersInit = decltype(KMeansOptions::init);

}  // namespace heatpp::ml::detail

namespace heatpp::detail {

template <>
inline constexpr std::array choice_names<KMeansInit> = {"plus_plus", "parallel", "random"};
template <>
inline constexpr std::array choice_names<SpectralMetric> = {"rbf", "euclidean", "nearest_neighbors"};
template <>
inline constexpr std::array choice_names<graph::LaplacianMode> = {"fully_connected", "e_neighbour"};
template <>
inline constexpr std::array choice_names<graph::LaplacianBoundary> = {"upper", "lower"};
template <>
struct FieldText<ml::detail::CentersInit> {
  static std::string of(const ml::detail::CentersInit& init) {
    return std::holds_alternative<DNDarray>(init) ? "given" : field_text(std::get<KMeansInit>(init));
  }
};
template <>
inline constexpr std::tuple fields_of<KMeansOptions> = {Field{"n_clusters", &KMeansOptions::n_clusters},
                                                        Field{"init", &KMeansOptions::init},
                                                        Field{"n_init", &KMeansOptions::n_init},
                                                        Field{"max_iterations", &KMeansOptions::max_iterations},
                                                        Field{"tol", &KMeansOptions::tol},
                                                        Field{"seed", &KMeansOptions::seed},
                                                        own_field("progress", &KMeansOptions::progress)};
template <>
inline constexpr std::tuple fields_of<MiniBatchKMeansOptions> = {
    Field{"n_clusters", &MiniBatchKMeansOptions::n_clusters},
    Field{"init", &MiniBatchKMeansOptions::init},
    Field{"batch_size", &MiniBatchKMeansOptions::batch_size},
    Field{"max_iterations", &MiniBatchKMeansOptions::max_iterations},
    Field{"tol", &MiniBatchKMeansOptions::tol},
    Field{"max_no_improvement", &MiniBatchKMeansOptions::max_no_improvement},
    Field{"reassignment_ratio", &MiniBatchKMeansOptions::reassignment_ratio},
    Field{"seed", &MiniBatchKMeansOptions::seed},
    own_field("progress", &MiniBatchKMeansOptions::progress)};
template <>
inline constexpr std::tuple fields_of<BatchParallelOptions> = {
    Field{"n_clusters", &BatchParallelOptions::n_clusters}, Field{"init", &BatchParallelOptions::init},
    Field{"max_iterations", &BatchParallelOptions::max_iterations}, Field{"tol", &BatchParallelOptions::tol},
    Field{"seed", &BatchParallelOptions::seed}};
template <>
inline constexpr std::tuple fields_of<DBSCANOptions> = {
    Field{"eps", &DBSCANOptions::eps}, Field{"min_samples", &DBSCANOptions::min_samples},
    Field{"metric", &DBSCANOptions::metric}, Field{"box", &DBSCANOptions::box}};
template <>
inline constexpr std::tuple fields_of<SpectralOptions> = {
    Field{"n_clusters", &SpectralOptions::n_clusters},
    Field{"gamma", &SpectralOptions::gamma},
    Field{"metric", &SpectralOptions::metric},
    Field{"laplacian", &SpectralOptions::laplacian},
    Field{"threshold", &SpectralOptions::threshold},
    Field{"n_neighbors", &SpectralOptions::n_neighbors},
    Field{"boundary", &SpectralOptions::boundary},
    Field{"lanczos_iterations", &SpectralOptions::lanczos_iterations},
    Field{"n_init", &SpectralOptions::n_init},
    Field{"seed", &SpectralOptions::seed}};

}  // namespace heatpp::detail

namespace heatpp::ml::detail {

/// The centers that are given are an array of the state; given_or reads it.
template <>
struct StateField<CentersInit> {
  static void write(Texts& texts, const char* name, const CentersInit& init) {
    texts.emplace(name, heatpp::detail::field_text(init));
  }
  static CentersInit read(const StateReader& read, const char* name) {
    return read.text(name) == "given" ? KMeansInit::plus_plus : StateField<KMeansInit>::read(read, name);
  }
};

}  // namespace heatpp::ml::detail
