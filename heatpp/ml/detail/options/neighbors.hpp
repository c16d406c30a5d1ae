#pragma once

#include <heatpp/ml/detail/options/fields.hpp>
#include <heatpp/ml/neighbors/inverted_file.hpp>
#include <heatpp/ml/neighbors/kneighbors.hpp>
#include <heatpp/ml/neighbors/nearest_neighbors.hpp>

namespace heatpp::detail {

template <>
inline constexpr std::array choice_names<Metric> = {"euclidean", "manhattan", "cosine"};
template <>
inline constexpr std::array choice_names<NeighborWeights> = {"uniform", "distance"};
template <>
inline constexpr std::tuple fields_of<NeighborsOptions> = {Field{"n_neighbors", &NeighborsOptions::n_neighbors},
                                                           Field{"radius", &NeighborsOptions::radius},
                                                           Field{"metric", &NeighborsOptions::metric}};
template <>
inline constexpr std::tuple fields_of<KNeighborsOptions> = {Field{"n_neighbors", &KNeighborsOptions::n_neighbors},
                                                            Field{"weights", &KNeighborsOptions::weights},
                                                            Field{"metric", &KNeighborsOptions::metric}};
template <>
inline constexpr std::tuple fields_of<InvertedFileOptions> = {
    Field{"n_neighbors", &InvertedFileOptions::n_neighbors}, Field{"n_lists", &InvertedFileOptions::n_lists},
    Field{"n_probe", &InvertedFileOptions::n_probe}, Field{"max_iterations", &InvertedFileOptions::max_iterations},
    Field{"seed", &InvertedFileOptions::seed}};

}  // namespace heatpp::detail
