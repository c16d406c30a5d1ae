#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/detail/flat.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace heatpp::nn::detail {
namespace {

/// A tensor of `like`'s shape in the memory, from an element on. To autograd it is no view: gradients may not be.
at::Tensor place_in(const at::Tensor& memory, std::int64_t first, const at::Tensor& like) {
  std::int64_t stride = 1;
  std::vector<std::int64_t> strides(static_cast<std::size_t>(like.dim()));
  for (auto axis = like.dim(); axis-- > 0; stride *= std::max<std::int64_t>(1, like.size(axis)))
    strides[static_cast<std::size_t>(axis)] = stride;
  return at::empty({0}, memory.options()).set_(memory.storage(), first, like.sizes(), strides);
}

}  // namespace

FlatBuffers::FlatBuffers(const std::vector<at::Tensor>& like) {
  using Kind = std::tuple<at::ScalarType, c10::DeviceType, c10::DeviceIndex>;
  const auto kind = [](const at::Tensor& tensor) {
    return Kind(tensor.scalar_type(), tensor.device().type(), tensor.device().index());
  };
  std::map<Kind, std::int64_t> sizes;
  for (const auto& tensor : like) sizes[kind(tensor)] += tensor.numel();
  std::map<Kind, Place> free;
  std::map<Kind, at::Tensor> memory;
  for (const auto& [of, size] : sizes) {
    const auto& [dtype, type, index] = of;
    free[of] = {buffers_.size(), 0};
    memory[of] = at::zeros({size}, at::TensorOptions(dtype).device(type, index));
    if (size) buffers_.push_back(memory[of]);
  }
  for (const auto& tensor : like) {
    auto& place = free[kind(tensor)];
    views_.push_back(place_in(memory[kind(tensor)], place.first, tensor));
    places_.push_back(place);
    place.first += tensor.numel();
  }
}

void FlatBuffers::pack(const std::vector<at::Tensor>& tensors) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) views_[i].copy_(tensors[i]);
    else views_[i].zero_();
  }
}

void FlatBuffers::pack(const std::vector<at::Tensor>& tensors, std::size_t b, std::int64_t first,
                       const at::Tensor& into) const {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (places_[i].buffer != b) continue;
    const auto begin = std::max(first, places_[i].first);
    const auto n = std::min(first + into.numel(), places_[i].first + tensors[i].numel()) - begin;
    if (n > 0) into.narrow(0, begin - first, n).copy_(tensors[i].reshape({-1}).narrow(0, begin - places_[i].first, n));
  }
}

void FlatBuffers::unpack(const std::vector<at::Tensor>& tensors) const {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(views_[i]);
}

at::Tensor FlatBuffers::stretch(std::size_t begin, std::size_t end) const {
  std::int64_t count = 0;
  for (auto i = begin; i < end; ++i) count += views_[i].numel();
  return views_[begin].as_strided({count}, {1});
}

std::int64_t FlatBuffers::bytes() const {
  std::int64_t sum = 0;
  for (const auto& buffer : buffers_) sum += static_cast<std::int64_t>(buffer.nbytes());
  return sum;
}

void average(const Topology& topology, const std::vector<at::Tensor>& tensors) {
  const int ranks = topology.comm().size();
  if (ranks == 1) return;
  FlatBuffers flat(tensors);
  flat.pack(tensors);
  for (const auto& buffer : flat.buffers()) {
    topology.allreduce(heatpp::detail::buffer_of(buffer));
    buffer.div_(ranks);
  }
  flat.unpack(tensors);
}

}  // namespace heatpp::nn::detail
