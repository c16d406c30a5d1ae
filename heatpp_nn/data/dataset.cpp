#include <heatpp_nn/data/dataset.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/data/detail/epoch_order.hpp>
#include <heatpp_nn/data/detail/stored_samples.hpp>

#include <ATen/ATen.h>

#include <cmath>

namespace heatpp::nn {
namespace {

using heatpp::detail::raise;
using random::detail::Bijection;

const detail::ArraySamples& in_memory(const detail::Samples& samples) {
  const auto* found = dynamic_cast<const detail::ArraySamples*>(&samples);
  if (!found) raise<ValueError>("Dataset", "got a dataset in files; expected one in memory, which has arrays");
  return *found;
}

/// Returns this rank's rows for which `chosen` is true, in an array with those of all ranks.
DNDarray select_rows(const DNDarray& x, const at::Tensor& chosen, std::span<const std::int64_t> counts) {
  return heatpp::detail::wrap(x.larray().index_select(0, chosen.to(x.larray().device())),
                              Layout::from_counts(x.shape(), 0, counts), x.comm());
}

Dataset select_rows(const Dataset& dataset, const at::Tensor& chosen) {
  const auto counts = dataset.comm().allgather(chosen.numel());
  std::vector<DNDarray> parts;
  for (const auto& array : dataset.arrays()) parts.push_back(select_rows(array, chosen, counts));
  return Dataset(
      std::make_shared<detail::ArraySamples>(std::move(parts), dataset.names(), dataset.samples().window_bytes()));
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
    : Dataset(std::vector<NamedArray>{{"inputs", inputs}}, {{"targets", targets}}, options) {}

Dataset::Dataset(const std::vector<NamedArray>& inputs, const std::vector<NamedArray>& targets,
                 const DatasetOptions& options) {
  FieldNames names;
  std::vector<DNDarray> arrays;
  const auto add = [&](const std::vector<NamedArray>& fields, std::vector<std::string>& to) {
    for (const auto& [name, array] : fields) {
      to.push_back(name);
      arrays.push_back(array);
    }
  };
  add(inputs, names.inputs);
  add(targets, names.targets);
  samples_ = std::make_shared<detail::ArraySamples>(std::move(arrays), std::move(names), options.window_bytes);
}

Dataset Dataset::from_hdf5(const io::Source& source, const Hdf5DatasetOptions& options) {
  std::vector<io::StoredRows> arrays;
  const auto names = detail::checked_names({options.inputs.list(), options.targets.list()});
  for (const auto& name : names->inputs)
    arrays.emplace_back(source, name, io::StoredRowsOptions{.dtype = options.dtype, .comm = options.comm});
  for (const auto& name : names->targets)
    arrays.emplace_back(source, name, io::StoredRowsOptions{.comm = options.comm});
  return Dataset(std::make_shared<detail::StoredSamples>(std::move(arrays), *names, options.window_bytes));
}

Dataset Dataset::on_remaining(const Communicator& comm) const { return Dataset(samples_->on_remaining(comm)); }
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
  auto window = samples_->reach(numbers);
  for (auto& rows : window.rows) rows = rows.index_select(0, window.place.to(rows.device()));
  return detail::batch_of(window.rows, samples_->fields());
}
const FieldNames& Dataset::names() const { return *samples_->fields(); }
const std::vector<DNDarray>& Dataset::arrays() const { return in_memory(*samples_).arrays(); }
const DNDarray& Dataset::inputs() const { return arrays().front(); }
const DNDarray& Dataset::targets() const { return arrays()[names().inputs.size()]; }

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
