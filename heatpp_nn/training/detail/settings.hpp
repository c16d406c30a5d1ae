#pragma once

#include <heatpp_nn/training/detail/agreement.hpp>

namespace torch::optim {
class Optimizer;
}

namespace heatpp::nn {
struct DasoOptions;
struct LossOptions;
struct ReplicaOptions;
struct TrainerOptions;
struct TrainingLength;
class GradScaler;
}  // namespace heatpp::nn

namespace heatpp::nn::detail {

/// What of options every rank has to have alike, as many as there are, in words.
[[nodiscard]] std::vector<Setting> settings_of(const ReplicaOptions& options);
[[nodiscard]] std::vector<Setting> settings_of(const DasoOptions& options);
/// Prefetch, transforms and progress are each rank's own.
[[nodiscard]] std::vector<Setting> settings_of(const TrainerOptions& options);

/// A loss by its name, and its options.
[[nodiscard]] std::vector<Setting> settings_of(const std::string& loss, const LossOptions& options);

/// The kind of an optimizer, and of each of its groups what it is stepped by and how many parameters it has. Where
/// ranks share its work these are each rank's own pieces, which do not count.
[[nodiscard]] std::vector<Setting> settings_of(const torch::optim::Optimizer& optimizer, bool shared);

/// The options of a DASO that drives a training of this length; `scaler` may be nullptr.
[[nodiscard]] DasoOptions daso_options(const TrainerOptions& options, const TrainingLength& length, GradScaler* scaler);
/// The rows of each rank in a batch. All rows are one batch, however they lie on the ranks, unless each rank is to have
/// as many.
[[nodiscard]] std::int64_t rows_of_batch(const TrainerOptions& options, std::int64_t rows, int ranks);
/// Those of a Trainer whose loss has been made by them.
[[nodiscard]] TrainerOptions without_loss_options(TrainerOptions options);

}  // namespace heatpp::nn::detail
