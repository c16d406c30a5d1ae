#include <heatpp/core/detail/route.hpp>

#include <numeric>

namespace heatpp::detail {
namespace {

template <class Byte>
std::vector<BasicBlock<Byte>> consecutive(Byte* data, std::span<const std::int64_t> counts, std::int64_t row_bytes) {
  std::vector<BasicBlock<Byte>> blocks;
  for (const auto count : counts) {
    blocks.push_back({data, 1, count * row_bytes, count * row_bytes});
    data += count * row_bytes;
  }
  return blocks;
}

}  // namespace

at::Tensor exchange_rows(const at::Tensor& tensor, std::span<const std::int64_t> send,
                         std::span<const std::int64_t> receive, const Communicator& comm) {
  const auto rows = tensor.contiguous();
  auto shape = rows.sizes().vec();
  shape[0] = std::reduce(receive.begin(), receive.end());
  auto arrived = at::empty(shape, rows.options());
  std::int64_t row_bytes = rows.element_size();
  for (std::int64_t axis = 1; axis < rows.dim(); ++axis) row_bytes *= rows.size(axis);
  comm.exchange(consecutive(static_cast<const std::byte*>(rows.const_data_ptr()), send, row_bytes),
                consecutive(static_cast<std::byte*>(arrived.data_ptr()), receive, row_bytes));
  return arrived;
}

}  // namespace heatpp::detail
