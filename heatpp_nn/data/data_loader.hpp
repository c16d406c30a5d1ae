#pragma once

#include <heatpp_nn/data/dataset.hpp>
#include <heatpp_nn/data/position.hpp>
#include <heatpp_nn/data/sampler.hpp>
#include <heatpp_nn/data/transforms.hpp>
#include <iterator>

namespace heatpp::nn {

/// What the loader prepares for later batches while the network is trained on one. Batches, their order and their bits
/// do not depend on it.
struct PrefetchOptions {
  /// Threads that read a stored dataset. Each reads its own window, so a rank holds one more window per thread. HDF5
  /// admits one thread at a time; meanwhile the others decompress chunks and sort rows.
  int readers = 1;
  int workers = 0;  ///< threads that take batches from a window and transform them; transforms must be thread-safe
  /// Device of the batches: a GPU gets them from pinned memory, asynchronously, in the current stream of the thread
  /// that uses the loader. nullopt: they stay where they are.
  std::optional<at::Device> device = std::nullopt;
};

/// Iterates over a dataset in batches:
///     for (const auto& [inputs, targets] : loader.epoch(e)) ...
///     for (const auto& batch : loader.epoch(e)) ...    // of several fields: batch["velocity"], batch.all_inputs()
/// Every rank gets the same number of batches, and all ranks iterate together. If rows come from other ranks
/// (Shuffle::global, and blocks of arrays in memory), they are exchanged for several batches at a time, 64 MiB per
/// rank. If they come from files, a thread reads them ahead of training, also one window at a time; then all ranks
/// agree that reading succeeded. Otherwise local. The next batch overwrites a batch; use `clone()` to keep data.
class DataLoader {
 public:
  /// Applies `transforms` to every batch, one after the other. Options must be equal on all ranks; only the Trainer
  /// checks this. Throws ValueError as DistributedSampler. Local.
  DataLoader(const Dataset& dataset, const SamplerOptions& options = {}, std::vector<Transform> transforms = {});

  /// Takes effect from the next epoch on. Throws ValueError for less than one reader, or negative workers. Local.
  void prefetch(const PrefetchOptions& options);

  /// Returns the batches of an epoch; of the one begun last, if it continued with another batch size.
  [[nodiscard]] std::int64_t batches() const { return sampler_.batches(); }
  [[nodiscard]] std::int64_t batch_size() const { return sampler_.batch_size(); }
  /// Returns the sampler, which knows how many rows each rank has in a batch of the epoch that was begun last.
  [[nodiscard]] const DistributedSampler& sampler() const { return sampler_; }

  class Epoch;
  /// Returns the batches of an epoch from `first` on. Errors during iteration are thrown on all ranks: IoError for
  /// files that are missing, truncated or changed. Only one epoch may be active at a time.
  [[nodiscard]] Epoch epoch(std::int64_t number, std::int64_t first = 0);
  /// Returns the rest of an epoch, which may have begun on other ranks and with another batch size (see
  /// DistributedSampler::from). Throws ValueError if the position is outside the epoch or the seed differs.
  [[nodiscard]] Epoch epoch(const Position& position);
  /// Returns the position after the last batch.
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
