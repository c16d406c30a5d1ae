#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/route.hpp>
#include <heatpp_nn/data/detail/samples.hpp>

#include <ATen/ATen.h>

#include <algorithm>

namespace heatpp::nn::detail {
namespace {

using heatpp::detail::raise;

std::int64_t bytes_of_row(const DNDarray& x) {
  auto shape = x.shape();
  shape[0] = 1;
  return size_of(shape) * static_cast<std::int64_t>(itemsize(x.dtype()));
}

}  // namespace

std::shared_ptr<const FieldNames> checked_names(FieldNames names) {
  if (names.inputs.empty() || names.targets.empty())
    raise<ValueError>("Dataset", "got {} inputs and {} targets; expected at least one of both", names.inputs.size(),
                      names.targets.size());
  return std::make_shared<const FieldNames>(std::move(names));
}

std::vector<DNDarray> rows_alike(const char* op, std::vector<DNDarray> arrays) {
  const auto first = arrays.front();
  for (const auto& x : arrays) {
    heatpp::detail::check_same_comm(op, first.comm(), x.comm());
    if (x.ndim() < 1 || first.ndim() < 1 || x.shape()[0] != first.shape()[0])
      raise<ValueError>(op, "got arrays of shape {} and of shape {}; expected equally many rows",
                        to_string(first.shape()), to_string(x.shape()));
  }
  const auto cut = std::ranges::find_if(arrays, [](const auto& x) { return x.split() == 0; });
  const auto rows = cut != arrays.end() ? cut->layout() : Layout(first.shape(), 0, first.comm().size());
  for (auto& x : arrays) {
    const auto target = rows.with(x.shape(), 0);
    if (x.split() != 0 || !same_cut(x.layout(), target))
      x = heatpp::detail::wrap(heatpp::detail::relayout_operand(op, x, target, x.comm()), target, x.comm());
  }
  return arrays;
}

ArraySamples::ArraySamples(std::vector<DNDarray> arrays, FieldNames names, std::int64_t window_bytes)
    : fields_(checked_names(std::move(names))),
      arrays_(rows_alike("Dataset", std::move(arrays))),
      window_bytes_(window_bytes) {}

std::int64_t ArraySamples::row_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& array : arrays_) bytes += bytes_of_row(array);
  return bytes;
}

std::shared_ptr<const Samples> ArraySamples::on_remaining(const Communicator& left) const {
  const auto counts = left.allgather(layout().count(comm().rank()));
  std::vector<DNDarray> arrays;
  for (const auto& array : arrays_)
    arrays.push_back(heatpp::detail::wrap(array.larray(), Layout::from_counts(array.shape(), 0, counts), left));
  return std::make_shared<ArraySamples>(std::move(arrays), *fields_, window_bytes_);
}

Window ArraySamples::reach(const at::Tensor& rows) const {
  Window window{{}, rows - layout().offset(comm().rank())};
  for (const auto& array : arrays_) window.rows.push_back(array.larray());
  return window;
}

/// Keeps the rows in the order in which they arrive; a batch selects its rows.
Window ArraySamples::fetch(const at::Tensor& rows) const {
  const auto route = heatpp::detail::route_to(heatpp::detail::owners_of(rows, layout().cut()), comm());
  const auto asked = route.there(rows) - layout().offset(comm().rank());
  Window window{{}, route.slots};
  for (const auto& array : arrays_) {
    const auto& block = array.larray();
    const auto sent = block.index_select(0, asked.to(block.device())).cpu();
    window.rows.push_back(heatpp::detail::exchange_rows(sent, route.received, route.sent, comm()).to(block.device()));
  }
  return window;
}

Batch batch_of(const Tensors& tensors, const std::shared_ptr<const FieldNames>& fields) {
  const auto targets = tensors.begin() + std::ssize(fields->inputs);
  return {tensors.front(), *targets, {tensors.begin() + 1, targets}, {targets + 1, tensors.end()}, fields};
}

}  // namespace heatpp::nn::detail
