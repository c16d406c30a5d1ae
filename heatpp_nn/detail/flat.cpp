#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/detail/flat.hpp>

#include <algorithm>
#include <map>

namespace heatpp::nn::detail {

FlatBuffers::FlatBuffers(const std::vector<at::Tensor>& like) {
  std::map<at::ScalarType, std::int64_t> sizes;
  for (const auto& tensor : like) sizes[tensor.scalar_type()] += tensor.numel();
  std::map<at::ScalarType, Place> free;
  std::map<at::ScalarType, at::Tensor> memory;
  for (const auto& [dtype, size] : sizes) {
    free[dtype] = {buffers_.size(), 0};
    memory[dtype] = at::zeros({size}, at::TensorOptions(dtype));
    if (size) buffers_.push_back(memory[dtype]);
  }
  for (const auto& tensor : like) {
    auto& place = free[tensor.scalar_type()];
    views_.push_back(memory[tensor.scalar_type()].narrow(0, place.first, tensor.numel()).view(tensor.sizes()));
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

void FlatBuffers::pack(const std::vector<at::Tensor>& tensors, std::size_t b, std::int64_t first, std::int64_t count) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (places_[i].buffer != b) continue;
    const auto begin = std::max(first, places_[i].first);
    const auto n = std::min(first + count, places_[i].first + tensors[i].numel()) - begin;
    if (n > 0) buffers_[b].narrow(0, begin, n).copy_(tensors[i].reshape({-1}).narrow(0, begin - places_[i].first, n));
  }
}

void FlatBuffers::unpack(const std::vector<at::Tensor>& tensors) const {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(views_[i]);
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
