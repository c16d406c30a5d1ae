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

/// The rows stay in the order in which they arrive: a batch takes those that it wants.
Window ArraySamples::fetch(const at::Tensor& rows) const {
  const auto route = heatpp::detail::route_to(heatpp::detail::owners_of(rows, layout().offsets()), comm());
  const auto asked = route.there(rows) - layout().offset(comm().rank());
  const auto arrived = [&](const at::Tensor& block) {
    const auto sent = block.index_select(0, asked.to(block.device())).cpu();
    return heatpp::detail::exchange_rows(sent, route.received, route.sent, comm()).to(block.device());
  };
  return {{arrived(inputs_.larray()), arrived(targets_.larray())}, route.slots};
}

Batch in_order(const Window& window) {
  return {window.rows.inputs.index_select(0, window.place), window.rows.targets.index_select(0, window.place)};
}

}  // namespace heatpp::nn::detail
