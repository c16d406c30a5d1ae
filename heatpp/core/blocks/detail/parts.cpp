#include <heatpp/core/blocks/detail/parts.hpp>

#include <heatpp/comm/detail/progress/exchange.hpp>

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

at::Tensor part_in_box(at::Tensor block, const Shape& origin, const Box& box) {
  for (std::size_t axis = 0; axis < origin.size(); ++axis)
    block = block.narrow(static_cast<std::int64_t>(axis), box.first[axis] - origin[axis], box.count[axis]);
  return block;
}

void exchange_parts(const Parts& send, const Parts& receive, const Communicator& comm) {
  Sends out;
  Receives in;
  std::vector<at::Tensor> packed_out(send.size()), packed_in(receive.size()), own_out, own_in;
  for (std::size_t i = 0; i < receive.size(); ++i) {
    const auto& [rank, tensors] = receive[i];
    if (rank == comm.rank()) own_in = tensors;
    else in.push_back({rank, block_of(tensors, packed_in[i])});
  }
  for (std::size_t i = 0; i < send.size(); ++i) {
    const auto& [rank, tensors] = send[i];
    if (rank == comm.rank()) {
      own_out = tensors;
      continue;
    }
    const auto block = block_of(tensors, packed_out[i]);
    out.push_back({rank, {block.data, block.runs, block.run_bytes, block.stride_bytes}});
    if (packed_out[i].defined())
      copy_packed(tensors, packed_out[i], [](const auto& part, const auto& packed) { packed.copy_(part); });
  }
  exchange_with(comm, std::move(out), std::move(in));
  for (std::size_t part = 0; part < own_out.size(); ++part) own_in[part].copy_(own_out[part]);
  for (std::size_t i = 0; i < receive.size(); ++i)
    if (packed_in[i].defined())
      copy_packed(receive[i].tensors, packed_in[i], [](const auto& part, const auto& packed) { part.copy_(packed); });
}

}  // namespace heatpp::detail
