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
class DataLoader;
class GradScaler;
}  // namespace heatpp::nn

namespace heatpp::nn::detail {

/// Returns the options that must be equal on all ranks, always the same number, as text.
[[nodiscard]] std::vector<Setting> settings_of(const ReplicaOptions& options);
[[nodiscard]] std::vector<Setting> settings_of(const DasoOptions& options);
/// Returns the options without prefetch, transforms and progress, which may differ between ranks.
[[nodiscard]] std::vector<Setting> settings_of(const TrainerOptions& options);

/// Returns a loss by its name, and its options.
[[nodiscard]] std::vector<Setting> settings_of(const std::string& loss, const LossOptions& options);

/// Returns the kind of an optimizer, and for each of its groups the options and the number of parameters. If ranks
/// share its work, the parameters are each rank's own pieces and are not counted.
[[nodiscard]] std::vector<Setting> settings_of(const torch::optim::Optimizer& optimizer, bool shared);

/// Returns the options of a DASO for a training of this length; `scaler` may be nullptr.
[[nodiscard]] DasoOptions daso_options(const TrainerOptions& options, const TrainingLength& length, GradScaler* scaler);
/// Returns the rows of each rank in a batch. If a batch is to hold all rows, it does so for any distribution of the
/// rows, unless each rank is to have the same number.
[[nodiscard]] std::int64_t rows_of_batch(const TrainerOptions& options, std::int64_t rows, int ranks);
/// Returns the number of rows of this rank in an epoch.
[[nodiscard]] double rows_of_rank(const DataLoader& loader);
/// Returns the options of a Trainer whose loss was already made with its loss options.
[[nodiscard]] TrainerOptions without_loss_options(TrainerOptions options);

}  // namespace heatpp::nn::detail
