#pragma once

#include <heatpp_nn/data/dataset.hpp>

#include <torch/data/datasets.h>
#include <torch/data/example.h>

namespace heatpp::nn {

/// A dataset as LibTorch's own loaders take them, with batches that are stacked already:
///     auto loader = torch::data::make_data_loader(TorchDataset(dataset), sampler, 64);
/// Of arrays in memory it has this rank's rows; of stored datasets it has all, so that LibTorch's
/// DistributedRandomSampler(size, ranks, rank) can share them among the ranks. Workers read files in turns. Of samples
/// of several fields it has the first input and the first target.
class TorchDataset : public torch::data::datasets::BatchDataset<TorchDataset, torch::data::Example<>> {
 public:
  explicit TorchDataset(const Dataset& dataset)
      : dataset_(dataset),
        first_(dataset.is_stored() ? 0 : dataset.layout().offset(dataset.comm().rank())),
        count_(dataset.is_stored() ? dataset.size() : dataset.layout().count(dataset.comm().rank())) {}

  torch::data::Example<> get_batch(c10::ArrayRef<std::size_t> indices) override {
    const std::vector<std::int64_t> rows(indices.begin(), indices.end());
    auto batch = dataset_.rows(torch::tensor(rows, torch::kLong) + first_);
    return {std::move(batch.inputs), std::move(batch.targets)};
  }
  [[nodiscard]] std::optional<std::size_t> size() const override { return static_cast<std::size_t>(count_); }

 private:
  Dataset dataset_;
  std::int64_t first_, count_;
};

}  // namespace heatpp::nn
