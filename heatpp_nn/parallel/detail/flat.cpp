#include <heatpp_nn/parallel/detail/flat.hpp>

#include <heatpp/comm/detail/machine/shared_memory.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/recovery/recovery.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace heatpp::nn::detail {
namespace {

/// Returns a tensor of `like`'s shape and dtype in the memory, from element `first` on. For autograd it is no view,
/// because gradients may not be views.
at::Tensor place_in(const at::Tensor& memory, std::int64_t first, const at::Tensor& like) {
  std::int64_t stride = 1;
  std::vector<std::int64_t> strides(static_cast<std::size_t>(like.dim()));
  for (auto axis = like.dim(); axis-- > 0; stride *= std::max<std::int64_t>(1, like.size(axis)))
    strides[static_cast<std::size_t>(axis)] = stride;
  return at::empty({0}, memory.options().dtype(like.scalar_type()))
      .set_(memory.storage(), first, like.sizes(), strides);
}

/// Returns zeros that the ranks of a node have in common. A rank that is alone has them for itself.
at::Tensor common_zeros(const Communicator& node, std::int64_t count, const at::TensorOptions& options) {
  if (node.size() == 1 || count == 0) return at::zeros({count}, options);
  const auto bytes = static_cast<std::size_t>(count) * options.dtype().itemsize();
  std::shared_ptr<heatpp::detail::SharedMemory> memory = heatpp::detail::SharedMemory::make(node, bytes);
  if (!memory)
    heatpp::detail::raise<ValueError>("Replica",
                                      "got shard_weights on {} ranks of a node that do not share {} bytes of memory; "
                                      "expected that much in /dev/shm, or shard without shard_weights",
                                      node.size(), bytes);
  auto* const data = memory->data();
  return at::from_blob(
      data, {count}, [memory = std::move(memory)](void*) {}, options);
}

}  // namespace

std::int64_t count_of_reals(const at::Tensor& tensor) { return tensor.numel() * (tensor.is_complex() ? 2 : 1); }

at::Tensor reals_of(const at::Tensor& tensor) { return tensor.is_complex() ? at::view_as_real(tensor) : tensor; }

FlatBuffers::FlatBuffers(const std::vector<at::Tensor>& like, const Communicator* node) {
  using Kind = std::tuple<at::ScalarType, c10::DeviceType, c10::DeviceIndex>;
  const auto kind = [](const at::Tensor& tensor) {
    return Kind(tensor.scalar_type(), tensor.device().type(), tensor.device().index());
  };
  struct Room {
    std::int64_t size = 0, used = 0;
    at::Tensor memory = {};
  };
  std::map<Kind, Room> rooms;
  for (const auto& tensor : like) rooms[kind(tensor)].size += tensor.numel();
  for (const auto& tensor : like) {
    auto& room = rooms[kind(tensor)];
    if (!room.memory.defined()) {
      const auto dtype = c10::toRealValueType(tensor.scalar_type());
      const auto count = tensor.is_complex() ? 2 * room.size : room.size;
      const auto options = at::TensorOptions(dtype).device(tensor.device());
      room.memory = node ? common_zeros(*node, count, options) : at::zeros({count}, options);
      bytes_ += static_cast<std::int64_t>(room.memory.nbytes());
    }
    views_.push_back(place_in(room.memory, room.used, tensor));
    room.used += tensor.numel();
  }
}

at::Tensor FlatBuffers::stretch(std::size_t begin, std::size_t end) const {
  std::int64_t count = 0;
  for (auto i = begin; i < end; ++i) count += count_of_reals(views_[i]);
  return reals_of(views_[begin]).as_strided({count}, {1});
}

namespace {

/// Runs `work` on the memory of all tensors. Tensors with gaps are copied for it.
void in_place(const std::vector<at::Tensor>& tensors, const std::function<void(std::span<const Buffer>)>& work) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> dense;
  std::vector<Buffer> buffers;
  for (const auto& tensor : tensors) dense.push_back(tensor.contiguous());
  for (const auto& tensor : dense) buffers.push_back(heatpp::detail::buffer_of(tensor));
  work(buffers);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (!dense[i].is_same(tensors[i])) at::Tensor(tensors[i]).copy_(dense[i]);
}

}  // namespace

std::vector<at::Tensor> floating(std::vector<at::Tensor> tensors) {
  std::erase_if(tensors, [](const auto& tensor) { return !tensor.is_floating_point(); });
  return tensors;
}

void average(const Topology& topology, const std::vector<at::Tensor>& tensors) {
  if (topology.comm().size() == 1) return;
  in_place(tensors, [&](std::span<const Buffer> buffers) { topology.allreduce(buffers, ReduceOp::mean); });
}

void add_up(const Topology& topology, const std::vector<at::Tensor>& tensors) {
  if (topology.comm().size() == 1) return;
  in_place(tensors, [&](std::span<const Buffer> buffers) { topology.allreduce(buffers); });
}

void replaced_by(const std::vector<at::Tensor>& tensors,
                 const std::function<void(const std::vector<at::Tensor>&)>& work) {
  const at::NoGradGuard no_grad;
  if (!survives_failures()) return work(tensors);
  for (const auto& tensor : tensors) {
    const auto copy = tensor.detach().clone();
    work({copy});
    tensor.detach().copy_(copy);
  }
}

void broadcast(const Communicator& comm, const std::vector<at::Tensor>& tensors) {
  if (comm.size() == 1) return;
  in_place(tensors, [&](std::span<const Buffer> buffers) {
    for (const auto& buffer : buffers) comm.broadcast(buffer, 0);
  });
}

}  // namespace heatpp::nn::detail
