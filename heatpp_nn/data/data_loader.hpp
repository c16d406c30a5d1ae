#pragma once

#include <heatpp_nn/data/dataset.hpp>
#include <heatpp_nn/data/position.hpp>
#include <heatpp_nn/data/sampler.hpp>
#include <heatpp_nn/data/transforms.hpp>
#include <iterator>

namespace heatpp::nn {

/// What is done for batches to come while the network is trained on one. Batches, their order and their bits do not
/// depend on it.
struct PrefetchOptions {
  /// Threads that read a stored dataset, each a window of its own, of which a rank then holds as many more. HDF5 lets
  /// one in at a time; what they do meanwhile is to inflate chunks and to put rows in order.
  int readers = 1;
  int workers = 0;  ///< threads that take batches out of a window and transform them, which transforms must allow
  /// Where batches go: to a GPU from pinned memory, without waiting, in the stream that is current where the loader is
  /// used. nullopt: they stay where they are.
  std::optional<at::Device> device = std::nullopt;
};

/// Goes through a dataset in batches:
///     for (const auto& [inputs, targets] : loader.epoch(e)) ...
///     for (const auto& batch : loader.epoch(e)) ...    // of several fields: batch["velocity"], batch.all_inputs()
/// Every rank gets equally many, and all ranks go through them together: where rows come from other ranks
/// (Shuffle::global and blocks of arrays in memory) they are exchanged for some batches at a time, 64 MiB on a rank,
/// and where they come from files they are read by a thread ahead of training, a window at a time too; then all ranks
/// agree that reading went well. Else local. A batch is overwritten by the next one; `clone()` what has to last longer.
class DataLoader {
 public:
  /// `transforms` are applied to every batch, one after the other. Options have to be the same on all ranks, which
  /// nothing compares but the Trainer. Throws ValueError as DistributedSampler. Local.
  DataLoader(const Dataset& dataset, const SamplerOptions& options = {}, std::vector<Transform> transforms = {});

  /// From the next epoch on. Throws ValueError for less than one reader, or workers below 0. Local.
  void prefetch(const PrefetchOptions& options);

  /// Of an epoch; of the one begun last, if there is one, where that went on in batches of another size.
  [[nodiscard]] std::int64_t batches() const { return sampler_.batches(); }
  [[nodiscard]] std::int64_t batch_size() const { return sampler_.batch_size(); }
  /// Tells how many rows each rank has in a batch of the epoch that was begun last.
  [[nodiscard]] const DistributedSampler& sampler() const { return sampler_; }

  class Epoch;
  /// The batches of an epoch from `first` on. What it throws while it is gone through, it throws on all ranks: IoError
  /// for files that are missing, truncated or changed. One epoch at a time.
  [[nodiscard]] Epoch epoch(std::int64_t number, std::int64_t first = 0);
  /// The rest of an epoch, which may have begun on other ranks and in batches of another size (see
  /// DistributedSampler::from). Throws ValueError for the position of a loader with another seed or outside the epoch.
  [[nodiscard]] Epoch epoch(const Position& position);
  /// Behind the batch that was given last.
  [[nodiscard]] const Position& position() const { return position_; }

 private:
  [[nodiscard]] Batch transformed(const Tensors& rows, const BatchContext& context) const;

  Dataset dataset_;
  DistributedSampler sampler_;
  std::vector<Transform> transforms_;
  PrefetchOptions prefetch_;
  Tensors memory_;
  Batch batch_;
  Position position_;
};

class DataLoader::Epoch {
 public:
  Epoch(DataLoader& loader, std::int64_t number, std::int64_t first);
  ~Epoch();
  Epoch(Epoch&&) noexcept;
  Epoch& operator=(Epoch&&) noexcept;

  class Iterator {
   public:
    Iterator(const Epoch& epoch, std::int64_t batch) : epoch_(&epoch), batch_(batch) {}
    const Batch& operator*() const { return epoch_->load(batch_); }
    Iterator& operator++() { return ++batch_, *this; }
    bool operator==(const Iterator& other) const { return batch_ == other.batch_; }

   private:
    const Epoch* epoch_;
    std::int64_t batch_;
  };
  [[nodiscard]] Iterator begin() const { return {*this, first_}; }
  [[nodiscard]] Iterator end() const { return {*this, last_}; }

 private:
  struct Windows;
  const Batch& load(std::int64_t batch) const;

  DataLoader* loader_;
  std::int64_t number_, first_, last_;
  std::unique_ptr<Windows> windows_;
};

}  // namespace heatpp::nn
