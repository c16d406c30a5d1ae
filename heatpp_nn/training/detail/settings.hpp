#pragma once

#include <heatpp_nn/training/detail/agreement.hpp>

namespace heatpp::nn {
struct DasoOptions;
struct ReplicaOptions;
struct TrainerOptions;
}  // namespace heatpp::nn

namespace heatpp::nn::detail {

/// What of options every rank has to have alike, as many as there are, in words.
[[nodiscard]] std::vector<Setting> settings_of(const ReplicaOptions& options);
[[nodiscard]] std::vector<Setting> settings_of(const DasoOptions& options);
/// Prefetch, transforms and progress are each rank's own.
[[nodiscard]] std::vector<Setting> settings_of(const TrainerOptions& options);

}  // namespace heatpp::nn::detail
