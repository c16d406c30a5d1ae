#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/comm/topology.hpp>
#include <vector>

namespace heatpp::nn::detail {

/// How many real numbers a tensor has: two for each complex one.
[[nodiscard]] std::int64_t count_of_reals(const at::Tensor& tensor);
/// The tensor's memory as real numbers, complex ones with an axis of two behind the others.
[[nodiscard]] at::Tensor reals_of(const at::Tensor& tensor);

/// Room for a list of tensors, zeros at first, in one buffer for each of their dtypes and devices, so that few large
/// messages carry many small tensors. Buffers are of real numbers, which complex ones are pairs of.
class FlatBuffers {
 public:
  explicit FlatBuffers(const std::vector<at::Tensor>& like);

  /// Where tensor `i` lies, in its shape.
  [[nodiscard]] const at::Tensor& view(std::size_t i) const { return views_[i]; }
  /// The real numbers of tensors `begin` up to `end`, which are of one dtype and device and all in a row, end to end.
  [[nodiscard]] at::Tensor stretch(std::size_t begin, std::size_t end) const;
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  std::vector<at::Tensor> views_;
  std::int64_t bytes_ = 0;
};

/// Those of floating numbers.
[[nodiscard]] std::vector<at::Tensor> floating(std::vector<at::Tensor> tensors);
/// Replaces each tensor by its mean over all ranks, in place. Every rank gets the same bits. Collective.
void average(const Topology& topology, const std::vector<at::Tensor>& tensors);
/// Replaces each tensor by its sum over all ranks, in place. The same.
void add_up(const Topology& topology, const std::vector<at::Tensor>& tensors);
/// Replaces each tensor by that of rank 0, in place. Collective.
void broadcast(const Communicator& comm, const std::vector<at::Tensor>& tensors);

}  // namespace heatpp::nn::detail
