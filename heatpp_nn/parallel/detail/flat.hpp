#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <heatpp/comm/topology.hpp>
#include <vector>

namespace heatpp::nn::detail {

/// Returns the number of real numbers in a tensor: two for each complex one.
[[nodiscard]] std::int64_t count_of_reals(const at::Tensor& tensor);
/// Returns the tensor's memory as real numbers; complex tensors get an axis of two at the end.
[[nodiscard]] at::Tensor reals_of(const at::Tensor& tensor);

/// Memory for a list of tensors, initially zeros, in one buffer for each dtype and device, so that few large messages
/// carry many small tensors. Buffers contain real numbers; a complex number is a pair of them.
class FlatBuffers {
 public:
  explicit FlatBuffers(const std::vector<at::Tensor>& like) : FlatBuffers(like, nullptr) {}
  /// Makes the buffers in memory that the ranks of a node have in common. Collective. Throws ValueError on all ranks of
  /// the node if they share no memory, or too little.
  FlatBuffers(const std::vector<at::Tensor>& like, const Communicator& node) : FlatBuffers(like, &node) {}

  /// Returns the place of tensor `i`, in its shape.
  [[nodiscard]] const at::Tensor& view(std::size_t i) const { return views_[i]; }
  /// Returns the real numbers of tensors `begin` up to `end`, which have one dtype and device and lie end to end.
  [[nodiscard]] at::Tensor stretch(std::size_t begin, std::size_t end) const;
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  FlatBuffers(const std::vector<at::Tensor>& like, const Communicator* node);

  std::vector<at::Tensor> views_;
  std::int64_t bytes_ = 0;
};

/// Returns the floating-point tensors of the list.
[[nodiscard]] std::vector<at::Tensor> floating(std::vector<at::Tensor> tensors);
/// Replaces each tensor by its mean over all ranks, in place. Every rank gets the same bits. Collective.
void average(const Topology& topology, const std::vector<at::Tensor>& tensors);
/// Replaces each tensor by its sum over all ranks, in place. Every rank gets the same bits. Collective.
void add_up(const Topology& topology, const std::vector<at::Tensor>& tensors);
/// Runs `work`, which replaces tensors by their means or sums over ranks. If the program survives the end of ranks, it
/// gets a copy of one tensor after another, so that every tensor is whole if a rank ends meanwhile.
void replaced_by(const std::vector<at::Tensor>& tensors,
                 const std::function<void(const std::vector<at::Tensor>&)>& work);
/// Replaces each tensor by that of rank 0, in place. Collective.
void broadcast(const Communicator& comm, const std::vector<at::Tensor>& tensors);

}  // namespace heatpp::nn::detail
