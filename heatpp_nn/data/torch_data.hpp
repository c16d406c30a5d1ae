#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/data/dataset.hpp>

#include <torch/data/datasets.h>
#include <torch/data/example.h>

#include <concepts>

namespace heatpp::nn {

/// Adapts a dataset to LibTorch's own loaders, with batches that are already stacked:
///     auto loader = torch::data::make_data_loader(TorchDataset(dataset), sampler, 64);
/// With arrays in memory it has this rank's rows. With stored datasets it has all rows, so that LibTorch's
/// DistributedRandomSampler(size, ranks, rank) can distribute them. Workers read files one at a time. For several
/// fields, use `TorchDataset<Batch>(dataset)`, which returns several tensors. The default returns `data` and `target`,
/// and throws ValueError for a dataset with several fields.
template <class Rows = torch::data::Example<>>
requires std::same_as<Rows, torch::data::Example<>> || std::same_as<Rows, Batch>
class TorchDataset : public torch::data::datasets::BatchDataset<TorchDataset<Rows>, Rows> {
 public:
  explicit TorchDataset(const Dataset& dataset)
      : dataset_(dataset),
        first_(dataset.is_stored() ? 0 : dataset.layout().offset(dataset.comm().rank())),
        count_(dataset.is_stored() ? dataset.size() : dataset.layout().count(dataset.comm().rank())) {
    if constexpr (!std::same_as<Rows, Batch>) {
      const auto& [inputs, targets] = dataset.names();
      if (inputs.size() > 1 || targets.size() > 1)
        heatpp::detail::raise<ValueError>("TorchDataset",
                                          "got samples of {} inputs and {} targets; expected one of each, or "
                                          "TorchDataset<Batch>",
                                          inputs.size(), targets.size());
    }
  }

  Rows get_batch(c10::ArrayRef<std::size_t> indices) override {
    const std::vector<std::int64_t> rows(indices.begin(), indices.end());
    auto batch = dataset_.rows(torch::tensor(rows, torch::kLong) + first_);
    if constexpr (std::same_as<Rows, Batch>) return batch;
    else return {std::move(batch.inputs), std::move(batch.targets)};
  }
  [[nodiscard]] std::optional<std::size_t> size() const override { return static_cast<std::size_t>(count_); }

 private:
  Dataset dataset_;
  std::int64_t first_, count_;
};

}  // namespace heatpp::nn
