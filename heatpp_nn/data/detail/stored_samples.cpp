#include <heatpp_nn/data/detail/stored_samples.hpp>

#include <heatpp/comm/detail/raise.hpp>

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

StoredSamples::StoredSamples(std::vector<io::StoredRows> arrays, FieldNames names, std::int64_t window_bytes,
                             const Communicator& comm)
    : fields_(checked_names(std::move(names))),
      arrays_(std::move(arrays)),
      comm_(comm),
      layout_({arrays_.front().shape()[0]}, 0, comm.size()),
      window_bytes_(window_bytes) {
  for (const auto& rows : arrays_) {
    row_bytes_ += bytes_of_row(rows);
    if (rows.shape()[0] != layout_.shape()[0])
      heatpp::detail::raise<ValueError>("Dataset", "got arrays of shape {} and of shape {}; expected as many rows",
                                        to_string(arrays_.front().shape()), to_string(rows.shape()));
  }
}

/// Reads each row once and in the order of the files, so that neighbors are read together.
Window StoredSamples::reach(const at::Tensor& rows) const {
  auto unique = rows.contiguous().clone();
  std::ranges::sort(values(unique));
  const auto last = std::ranges::unique(values(unique)).begin();
  unique = unique.narrow(0, 0, last - values(unique).begin());
  Window window{{}, at::searchsorted(unique, rows)};
  for (const auto& array : arrays_) window.rows.push_back(array.read(values(unique)));
  return window;
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
