#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/comm/topology.hpp>
#include <vector>

namespace heatpp::nn::detail {

/// Room for a list of tensors in one buffer for each of their dtypes and devices, so that few large messages carry many
/// small tensors.
class FlatBuffers {
 public:
  explicit FlatBuffers(const std::vector<at::Tensor>& like);

  /// Copies the tensors in; an undefined one counts as zeros.
  void pack(const std::vector<at::Tensor>& tensors);
  /// Copies what buffer `b` would hold from `first` on, as much as `into` takes.
  void pack(const std::vector<at::Tensor>& tensors, std::size_t b, std::int64_t first, const at::Tensor& into) const;
  /// Copies the contents back out.
  void unpack(const std::vector<at::Tensor>& tensors) const;

  /// One for each dtype and device, none of them empty.
  [[nodiscard]] const std::vector<at::Tensor>& buffers() const { return buffers_; }
  /// Where tensor `i` lies, in its shape.
  [[nodiscard]] const at::Tensor& view(std::size_t i) const { return views_[i]; }
  /// Where tensors `begin` up to `end` lie, which are of one dtype and device and all in a row, end to end.
  [[nodiscard]] at::Tensor stretch(std::size_t begin, std::size_t end) const;
  [[nodiscard]] std::int64_t bytes() const;

 private:
  std::vector<at::Tensor> buffers_;
  std::vector<at::Tensor> views_;
  struct Place {
    std::size_t buffer;
    std::int64_t first;
  };
  std::vector<Place> places_;
};

/// Replaces each tensor by its mean over all ranks. Every rank gets the same bits. Collective.
void average(const Topology& topology, const std::vector<at::Tensor>& tensors);

}  // namespace heatpp::nn::detail
