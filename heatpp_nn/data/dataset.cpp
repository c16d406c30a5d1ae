#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/data/dataset.hpp>
#include <heatpp_nn/data/detail/epoch_order.hpp>
#include <heatpp_nn/data/detail/stored_samples.hpp>

#include <ATen/ATen.h>

#include <cmath>

namespace heatpp::nn {
namespace {

using heatpp::detail::raise;
using random::detail::Bijection;

const detail::ArraySamples& arrays(const detail::Samples& samples) {
  const auto* found = dynamic_cast<const detail::ArraySamples*>(&samples);
  if (!found) raise<ValueError>("Dataset", "got a dataset in files; expected one in memory, which has arrays");
  return *found;
}

/// This rank's rows of which `chosen` says true, in an array that has those of all ranks.
DNDarray select_rows(const DNDarray& x, const at::Tensor& chosen, std::span<const std::int64_t> counts) {
  return heatpp::detail::wrap(x.larray().index_select(0, chosen.to(x.larray().device())),
                              Layout::from_counts(x.shape(), 0, counts), x.comm());
}

Dataset select_rows(const Dataset& dataset, const at::Tensor& chosen) {
  const auto counts = dataset.comm().allgather(chosen.numel());
  return {select_rows(dataset.inputs(), chosen, counts),
          select_rows(dataset.targets(), chosen, counts),
          {.window_bytes = dataset.samples().window_bytes()}};
}

TrainValidation split_arrays(const Dataset& dataset, const Bijection& order, std::int64_t validation) {
  const auto rank = dataset.comm().rank();
  const auto first = dataset.layout().offset(rank);
  std::vector<std::int64_t> parts[2];
  for (std::int64_t i = 0; i < dataset.layout().count(rank); ++i)
    parts[order.inverse(first + i) < validation].push_back(i);
  return {select_rows(dataset, at::tensor(parts[0], at::kLong)), select_rows(dataset, at::tensor(parts[1], at::kLong))};
}

}  // namespace

Dataset::Dataset(const DNDarray& inputs, const DNDarray& targets, const DatasetOptions& options)
    : samples_(std::make_shared<detail::ArraySamples>(inputs, targets, options.window_bytes)) {}

Dataset Dataset::from_hdf5(const io::Source& source, const Hdf5DatasetOptions& options) {
  const io::StoredRows inputs(source, options.inputs, {.dtype = options.dtype, .comm = options.comm}),
      targets(source, options.targets, {.comm = options.comm});
  return Dataset(std::make_shared<detail::StoredSamples>(inputs, targets, options.window_bytes));
}

std::int64_t Dataset::size() const { return layout().shape()[0]; }
const Layout& Dataset::layout() const { return samples_->layout(); }
const Communicator& Dataset::comm() const { return samples_->comm(); }
bool Dataset::is_stored() const { return samples_->is_stored(); }
Batch Dataset::rows(const at::Tensor& numbers) const {
  const auto first = is_stored() ? 0 : layout().offset(comm().rank());
  const auto end = is_stored() ? size() : layout().offset(comm().rank() + 1);
  if (numbers.lt(first).logical_or(numbers.ge(end)).any().item<bool>())
    raise<IndexError>("Dataset", "got rows {} to {}; expected {} to {}, which this rank can reach",
                      numbers.min().item<std::int64_t>(), numbers.max().item<std::int64_t>(), first, end - 1);
  return detail::in_order(samples_->reach(numbers));
}
const DNDarray& Dataset::inputs() const { return arrays(*samples_).inputs(); }
const DNDarray& Dataset::targets() const { return arrays(*samples_).targets(); }

TrainValidation train_validation_split(const Dataset& dataset, const SplitOptions& options) {
  if (!(options.validation >= 0 && options.validation <= 1))
    raise<ValueError>("train_validation_split", "got a share of {}; expected 0 to 1", options.validation);
  const auto n = dataset.size();
  const auto validation = std::llround(options.validation * static_cast<double>(n));
  const Bijection order(random::detail::Key(detail::mixed(options.seed, 1, 1)), 0, n);
  if (!dataset.is_stored()) return split_arrays(dataset, order, validation);
  const auto part = [&](std::int64_t first, std::int64_t count) {
    return Dataset(std::make_shared<detail::PartOfSamples>(dataset, order, first, count));
  };
  return {part(validation, n - validation), part(0, validation)};
}

}  // namespace heatpp::nn
