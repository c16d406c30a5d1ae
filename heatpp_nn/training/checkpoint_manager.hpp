#pragma once

#include <heatpp_nn/training/checkpoint.hpp>

#include <filesystem>

namespace heatpp::nn {
namespace detail {
struct Training;
}

struct CheckpointManagerOptions {
  std::int64_t keep = 2;   ///< number of files that stay, the newest ones, at least 1
  bool background = true;  ///< writes a copy while the training continues
};

/// The checkpoints of a training in a folder, `checkpoint-<number>.pt`. The oldest is removed only after a new one is
/// complete, so there always is a valid one. Files with higher numbers, left from before a restart of the training or a
/// resumption from an older file, and unfinished files of killed writers are then removed, too. Only one training at a
/// time may write to a folder.
///     ht::nn::CheckpointManager checkpoints("out", ht::world());
///     const auto resumed = checkpoints.resume(daso);
///     ...
///     checkpoints.save(batch, daso, loader.position());
class CheckpointManager {
 public:
  /// Creates the folder if it does not exist. Collective. Throws IoError on all ranks if this fails, ValueError if
  /// fewer than one file are to stay.
  CheckpointManager(std::filesystem::path folder, const Communicator& comm,
                    const CheckpointManagerOptions& options = {});
  /// Finishes the file under way. After an exception, it drops an incomplete file instead.
  ~CheckpointManager();
  CheckpointManager(const CheckpointManager&) = delete;
  CheckpointManager& operator=(const CheckpointManager&) = delete;

  /// Saves as `save_checkpoint`, after the file under way is written. In the background each rank holds a copy of what
  /// it writes. Collective. Throws IoError on all ranks, also if the file before could not be written.
  void save(std::int64_t number, DASO& daso, const Position& position = {}, const Extras& extras = {});
  void save(std::int64_t number, Replica& replica, torch::optim::Optimizer& optimizer, const Position& position = {},
            const Extras& extras = {});
  /// Saves a training of the Trainer.
  void save(std::int64_t number, const detail::Training& training, const Position& position, const Extras& extras);
  /// Moves the file under way to its place if all ranks had written it by the previous call. Call it after batches, so
  /// that the file does not wait for the next `save`. Collective. Throws IoError on all ranks.
  void advance();
  /// Waits until the file under way is in its place. Collective. Throws IoError on all ranks.
  void finish();

  /// Loads the newest undamaged file as `load_checkpoint`. Returns nullopt if there is no file. Collective. If no file
  /// can be loaded, throws the IoError of the newest one on all ranks.
  [[nodiscard]] std::optional<Resumed> resume(DASO& daso);
  [[nodiscard]] std::optional<Resumed> resume(Replica& replica, torch::optim::Optimizer& optimizer);
  [[nodiscard]] std::optional<Resumed> resume(const detail::Training& training);

  /// Returns the numbers of the existing files, in order. Collective.
  [[nodiscard]] std::vector<std::int64_t> numbers() const;
  [[nodiscard]] std::filesystem::path file(std::int64_t number) const;

 private:
  struct UnderWay;
  std::filesystem::path folder_;
  Communicator comm_;
  CheckpointManagerOptions options_;
  std::unique_ptr<UnderWay> under_way_;
};

}  // namespace heatpp::nn
