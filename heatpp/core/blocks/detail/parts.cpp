#include <heatpp/core/blocks/detail/parts.hpp>

#include <optional>

namespace heatpp::detail {
namespace {

/// Returns the elements in C order as runs at one stride, if they lie so.
std::optional<Block> runs_of(const at::Tensor& part) {
  if (part.is_conj() || part.is_neg()) return std::nullopt;
  Block block{static_cast<std::byte*>(part.data_ptr()), 1, static_cast<std::int64_t>(part.element_size()), 0};
  auto axis = part.dim() - 1;
  const auto step = [&] { return part.stride(axis) * static_cast<std::int64_t>(part.element_size()); };
  for (; axis >= 0 && (part.size(axis) == 1 || step() == block.run_bytes); --axis) block.run_bytes *= part.size(axis);
  for (; axis >= 0; --axis) {
    if (part.size(axis) == 1) continue;
    if (block.runs > 1 && step() != block.stride_bytes * block.runs) return std::nullopt;
    if (block.runs == 1) block.stride_bytes = step();
    block.runs *= part.size(axis);
  }
  if (block.runs == 1) block.stride_bytes = block.run_bytes;
  return block;
}

/// Describes one rank's parts as a block of an exchange. A single part of runs stays in place; other parts are placed
/// behind one another in memory that is kept here.
Block block_of(const std::vector<at::Tensor>& parts, at::Tensor& packed) {
  if (parts.empty()) return {};
  if (parts.size() == 1)
    if (const auto runs = runs_of(parts[0])) return *runs;
  std::int64_t elements = 0;
  for (const auto& part : parts) elements += part.numel();
  packed = at::empty({elements}, parts[0].options());
  return *runs_of(packed);
}

/// Copies parts to their packed memory, or back.
template <class Copy>
void copy_packed(const std::vector<at::Tensor>& parts, const at::Tensor& packed, Copy copy) {
  std::int64_t first = 0;
  for (const auto& part : parts) {
    copy(part, packed.narrow(0, first, part.numel()).view(part.sizes()));
    first += part.numel();
  }
}

}  // namespace

void exchange_parts(const Parts& send, const Parts& receive, const Communicator& comm) {
  const auto me = static_cast<std::size_t>(comm.rank()), ranks = static_cast<std::size_t>(comm.size());
  std::vector<ConstBlock> out(ranks);
  std::vector<Block> in(ranks);
  std::vector<at::Tensor> packed_out(ranks), packed_in(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (rank == me) continue;
    const auto block = block_of(send[rank], packed_out[rank]);
    out[rank] = {block.data, block.runs, block.run_bytes, block.stride_bytes};
    in[rank] = block_of(receive[rank], packed_in[rank]);
    if (packed_out[rank].defined())
      copy_packed(send[rank], packed_out[rank], [](const auto& part, const auto& packed) { packed.copy_(part); });
  }
  comm.exchange(out, in);
  for (std::size_t part = 0; part < send[me].size(); ++part) receive[me][part].copy_(send[me][part]);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (packed_in[rank].defined())
      copy_packed(receive[rank], packed_in[rank], [](const auto& part, const auto& packed) { part.copy_(packed); });
}

}  // namespace heatpp::detail
