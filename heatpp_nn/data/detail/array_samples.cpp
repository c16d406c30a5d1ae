#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/route.hpp>
#include <heatpp_nn/data/detail/samples.hpp>

#include <ATen/ATen.h>

namespace heatpp::nn::detail {
namespace {

using heatpp::detail::raise;

std::int64_t bytes_of_row(const DNDarray& x) {
  auto shape = x.shape();
  shape[0] = 1;
  return size_of(shape) * static_cast<std::int64_t>(itemsize(x.dtype()));
}

/// How many of the rising row numbers lie on each rank.
std::vector<std::int64_t> count_by_owner(const at::Tensor& sorted, const Layout& layout) {
  const auto bounds = at::tensor(std::vector<std::int64_t>(layout.offsets().begin(), layout.offsets().end()));
  const auto below = at::searchsorted(sorted, bounds);
  const auto counts = below.slice(0, 1) - below.slice(0, 0, -1);
  return {counts.const_data_ptr<std::int64_t>(), counts.const_data_ptr<std::int64_t>() + counts.numel()};
}

}  // namespace

ArraySamples::ArraySamples(const DNDarray& inputs, const DNDarray& targets, std::int64_t window_bytes)
    : inputs_(inputs), targets_(targets), window_bytes_(window_bytes) {
  if (inputs.split() != 0 || targets.split() != 0 || !same_cut(inputs.layout(), targets.layout()))
    raise<ValueError>(
        "Dataset", "got inputs of shape {}, {} and targets of shape {}, {}; expected both split 0, at the same rows",
        to_string(inputs.shape()), to_string(inputs.split()), to_string(targets.shape()), to_string(targets.split()));
}

std::int64_t ArraySamples::row_bytes() const { return bytes_of_row(inputs_) + bytes_of_row(targets_); }

Window ArraySamples::reach(const at::Tensor& rows) const {
  return {{inputs_.larray(), targets_.larray()}, rows - layout().offset(comm().rank())};
}

/// Rows are asked for in rising order, so that the ranks that hold them are asked in theirs.
Window ArraySamples::fetch(const at::Tensor& rows) const {
  const auto [sorted, order] = at::sort(rows);
  const auto mine = count_by_owner(sorted, layout());
  const auto theirs = comm().alltoall(mine);
  const auto asked = heatpp::detail::exchange_rows(sorted, mine, theirs, comm()) - layout().offset(comm().rank());
  const auto arrived = [&](const at::Tensor& block) {
    const auto sent = block.index_select(0, asked.to(block.device())).cpu();
    return heatpp::detail::exchange_rows(sent, theirs, mine, comm()).to(block.device());
  };
  Batch found{arrived(inputs_.larray()), arrived(targets_.larray())};
  auto place = at::empty_like(rows);
  place.index_put_({order}, at::arange(rows.numel(), rows.options()));
  return {std::move(found), std::move(place)};
}

Batch in_order(const Window& window) {
  return {window.rows.inputs.index_select(0, window.place), window.rows.targets.index_select(0, window.place)};
}

}  // namespace heatpp::nn::detail
