#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/data_loader.hpp>

#include <ATen/ATen.h>

namespace heatpp::nn {
namespace {

// Memory for `count` rows like those of `block`; kept where it fits already and no graph can see it any more.
void make_room(at::Tensor& room, const at::Tensor& block, std::int64_t count) {
  auto sizes = block.sizes().vec();
  sizes.front() = count;
  if (!room.defined() || room.sizes() != at::IntArrayRef(sizes)) room = at::empty(sizes, block.options());
}

}  // namespace

Dataset::Dataset(const DNDarray& inputs, const DNDarray& targets) : inputs_(inputs), targets_(targets) {
  if (inputs.split() != 0 || targets.split() != 0 || !same_cut(inputs.layout(), targets.layout()))
    heatpp::detail::raise<ValueError>(
        "Dataset", "got inputs of shape {}, {} and targets of shape {}, {}; expected both split 0, at the same rows",
        to_string(inputs.shape()), to_string(inputs.split()), to_string(targets.shape()), to_string(targets.split()));
}

void Dataset::take(const at::Tensor& positions, Batch& batch) const {
  make_room(batch.inputs, inputs_.larray(), positions.numel());
  make_room(batch.targets, targets_.larray(), positions.numel());
  at::index_select_out(batch.inputs, inputs_.larray(), 0, positions);
  at::index_select_out(batch.targets, targets_.larray(), 0, positions);
}

DataLoader::DataLoader(const Dataset& dataset, const SamplerOptions& options)
    : dataset_(dataset), sampler_(dataset.inputs().layout(), dataset.inputs().comm().rank(), options) {}

DataLoader::Epoch DataLoader::epoch(std::int64_t number) { return {*this, sampler_.order(number)}; }

const Batch& DataLoader::Epoch::load(std::int64_t batch) const {
  const auto rows = loader_->batch_size();
  loader_->dataset_.take(order_.narrow(0, batch * rows, rows), loader_->batch_);
  return loader_->batch_;
}

}  // namespace heatpp::nn
