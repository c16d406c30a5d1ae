#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/detail/flat.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace heatpp::nn::detail {

FlatBuffers::FlatBuffers(const std::vector<at::Tensor>& like) {
  std::map<at::ScalarType, std::int64_t> sizes;
  for (const auto& tensor : like) sizes[tensor.scalar_type()] += tensor.numel();
  std::map<at::ScalarType, at::Tensor> rest;  // what is not given away yet
  for (const auto& [dtype, size] : sizes) {
    rest[dtype] = at::zeros({size}, at::TensorOptions(dtype));
    if (size) buffers_.push_back(rest[dtype]);
  }
  for (const auto& tensor : like) {
    auto& room = rest[tensor.scalar_type()];
    views_.push_back(room.narrow(0, 0, tensor.numel()).view(tensor.sizes()));
    room = room.narrow(0, tensor.numel(), room.numel() - tensor.numel());
  }
}

void FlatBuffers::pack(const std::vector<at::Tensor>& tensors) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) views_[i].copy_(tensors[i]);
    else views_[i].zero_();
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

bool FlatBuffers::finite() const { return std::ranges::all_of(buffers_, is_finite); }

bool is_finite(const at::Tensor& tensor) {
  if (tensor.numel() == 0 || !(tensor.is_floating_point() || tensor.is_complex())) return true;
  // The largest magnitude in one pass; NaN wins every comparison.
  const auto largest = at::linalg_vector_norm(tensor.detach(), std::numeric_limits<double>::infinity());
  return std::isfinite(largest.item<double>());
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
