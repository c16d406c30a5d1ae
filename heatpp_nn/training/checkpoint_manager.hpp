#pragma once

#include <heatpp_nn/training/checkpoint.hpp>

#include <filesystem>

namespace heatpp::nn {
namespace detail {
struct Training;
}

struct CheckpointManagerOptions {
  std::int64_t keep = 2;   ///< how many of the newest files stay, at least 1
  bool background = true;  ///< writes a copy while the training goes on
};

/// The checkpoints of a training in a folder, `checkpoint-<number>.pt`. A new one appears complete, and only then the
/// oldest goes, so that there always is a good one. Files of higher numbers go then, too: a training that has begun
/// anew in the folder, or goes on from an older file, has left them behind; so do unfinished ones of writers that were
/// killed. One training at a time may write to a folder.
///     ht::nn::CheckpointManager checkpoints("out", ht::world());
///     const auto resumed = checkpoints.resume(daso);
///     ...
///     checkpoints.save(batch, daso, loader.position());
class CheckpointManager {
 public:
  /// Makes the folder where it is missing. Collective. Throws IoError on all ranks where it cannot, ValueError where
  /// fewer than one file are to stay.
  CheckpointManager(std::filesystem::path folder, const Communicator& comm,
                    const CheckpointManagerOptions& options = {});
  /// Finishes what is under way, unless an exception has come: then what is not complete is dropped.
  ~CheckpointManager();
  CheckpointManager(const CheckpointManager&) = delete;
  CheckpointManager& operator=(const CheckpointManager&) = delete;

  /// As `save_checkpoint`, once what is under way has been written. In the background each rank holds a copy of what it
  /// writes. Collective. Throws IoError on all ranks, also for the file before, which then is not there.
  void save(std::int64_t number, DASO& daso, const Position& position = {}, const Extras& extras = {});
  void save(std::int64_t number, Replica& replica, torch::optim::Optimizer& optimizer, const Position& position = {},
            const Extras& extras = {});
  /// What the Trainer saves.
  void save(std::int64_t number, const detail::Training& training, const Position& position, const Extras& extras);
  /// Puts what is under way in its place if all ranks had written it by the call before: to be called at batches, so
  /// that it does not wait there for the next `save`. Collective. Throws IoError on all ranks.
  void advance();
  /// Waits until what is under way is in its place. Collective. Throws IoError on all ranks.
  void finish();

  /// As `load_checkpoint`, from the newest file that is whole; nullopt where there is none at all. Collective. Throws
  /// IoError on all ranks, of the newest file, where none can be loaded.
  [[nodiscard]] std::optional<Resumed> resume(DASO& daso);
  [[nodiscard]] std::optional<Resumed> resume(Replica& replica, torch::optim::Optimizer& optimizer);
  [[nodiscard]] std::optional<Resumed> resume(const detail::Training& training);

  /// The numbers of the files that are there, in order. Collective.
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
