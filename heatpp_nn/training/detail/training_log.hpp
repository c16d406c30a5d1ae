#pragma once

#include <heatpp_nn/logging/csv_log.hpp>
#include <heatpp_nn/logging/loss_plot.hpp>
#include <heatpp_nn/logging/tensorboard.hpp>
#include <heatpp_nn/training/trainer.hpp>

namespace heatpp::nn::detail {

/// What a training writes about itself into a folder: log.csv with a row for each epoch, TensorBoard's events, and a
/// picture of the loss.
class TrainingLog {
 public:
  /// Creates the folder. Continues an existing table after batch `from`. Collective. Throws IoError.
  TrainingLog(const Communicator& comm, const std::filesystem::path& folder, const std::vector<std::string>& metrics,
              double from);

  /// Takes the mean losses over all ranks of the batches from `first` on, and their rates. Local.
  void batches(std::int64_t first, std::span<const double> losses, const RateSchedule& rate);
  /// Takes the result of an epoch that ended after `batches` batches in total. Collective. Throws IoError.
  void epoch(std::int64_t batches, const EpochResult& result);
  /// Draws loss.svg, with DASO's phases. Collective. Throws IoError.
  void draw(const DASO* daso, std::int64_t batches) const;

 private:
  Communicator comm_;
  std::filesystem::path folder_;
  std::vector<std::string> metrics_;
  CsvLog table_;
  TensorBoardWriter events_;
  std::vector<double> at_, losses_, validated_at_, validated_;
};

/// Creates a folder if it does not exist. Collective. Throws IoError on all ranks.
void make_folder(const Communicator& comm, const std::filesystem::path& folder);

}  // namespace heatpp::nn::detail
