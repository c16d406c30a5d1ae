#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp_nn/sampler.hpp>
#include <iterator>

namespace heatpp::nn {

/// Rows of the two arrays that belong together.
struct Batch {
  at::Tensor inputs;
  at::Tensor targets;
};

/// Two arrays that are cut alike along axis 0: what goes into a network, and what should come out.
class Dataset {
 public:
  /// Throws ValueError on all ranks where the arrays are not split along axis 0 at the same rows.
  Dataset(const DNDarray& inputs, const DNDarray& targets);

  [[nodiscard]] const DNDarray& inputs() const { return inputs_; }
  [[nodiscard]] const DNDarray& targets() const { return targets_; }
  /// Rows on all ranks.
  [[nodiscard]] std::int64_t size() const { return inputs_.shape().front(); }
  /// Copies rows of this rank's block into `batch`, whose memory is used again where it fits.
  void take(const at::Tensor& positions, Batch& batch) const;

 private:
  DNDarray inputs_;
  DNDarray targets_;
};

/// Goes through a dataset in batches:
///     for (const auto& [inputs, targets] : loader.epoch(e)) ...
/// Every rank gets equally many. A batch is overwritten by the next one; `clone()` what has to last longer. Local.
class DataLoader {
 public:
  DataLoader(const Dataset& dataset, const SamplerOptions& options = {});

  [[nodiscard]] std::int64_t batches() const { return sampler_.batches(); }
  [[nodiscard]] std::int64_t batch_size() const { return sampler_.batch_size(); }

  class Epoch;
  [[nodiscard]] Epoch epoch(std::int64_t number);

 private:
  Dataset dataset_;
  DistributedSampler sampler_;
  Batch batch_;
};

class DataLoader::Epoch {
 public:
  Epoch(DataLoader& loader, at::Tensor order) : loader_(&loader), order_(std::move(order)) {}

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
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, loader_->batches()}; }

 private:
  const Batch& load(std::int64_t batch) const;

  DataLoader* loader_;
  at::Tensor order_;
};

}  // namespace heatpp::nn
