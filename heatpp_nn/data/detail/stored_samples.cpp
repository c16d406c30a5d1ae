#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/data/detail/stored_samples.hpp>

#include <ATen/ATen.h>

#include <algorithm>

namespace heatpp::nn::detail {
namespace {

std::span<std::int64_t> values(const at::Tensor& numbers) {
  return {numbers.data_ptr<std::int64_t>(), static_cast<std::size_t>(numbers.numel())};
}

std::int64_t bytes_of_row(const io::StoredRows& rows) {
  auto shape = rows.shape();
  shape[0] = 1;
  return size_of(shape) * static_cast<std::int64_t>(itemsize(rows.dtype()));
}

}  // namespace

StoredSamples::StoredSamples(const io::StoredRows& inputs, const io::StoredRows& targets, std::int64_t window_bytes)
    : inputs_(inputs),
      targets_(targets),
      layout_({inputs.shape()[0]}, 0, inputs.comm().size()),
      row_bytes_(bytes_of_row(inputs) + bytes_of_row(targets)),
      window_bytes_(window_bytes) {
  if (inputs.shape()[0] != targets.shape()[0])
    heatpp::detail::raise<ValueError>("Dataset",
                                      "got inputs of shape {} and targets of shape {}; expected as many rows",
                                      to_string(inputs.shape()), to_string(targets.shape()));
}

/// Each row once and in the order of the files, so that neighbours are read together.
Window StoredSamples::reach(const at::Tensor& rows) const {
  auto unique = rows.contiguous().clone();
  std::ranges::sort(values(unique));
  const auto last = std::ranges::unique(values(unique)).begin();
  unique = unique.narrow(0, 0, last - values(unique).begin());
  return {{inputs_.read(values(unique)), targets_.read(values(unique))}, at::searchsorted(unique, rows)};
}

PartOfSamples::PartOfSamples(const Dataset& whole, const random::detail::Bijection& order, std::int64_t first,
                             std::int64_t count)
    : whole_(whole), order_(order), first_(first), layout_({count}, 0, whole.comm().size()) {}

Window PartOfSamples::reach(const at::Tensor& rows) const {
  auto there = rows.clone();
  for (auto& row : values(there)) row = order_(first_ + row);
  return whole_.samples().reach(there);
}

}  // namespace heatpp::nn::detail
