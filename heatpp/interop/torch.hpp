#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/core/factories.hpp>

namespace heatpp {

/// Returns LibTorch's name of a dtype.
[[nodiscard]] at::ScalarType to_torch(Dtype dtype);

/// Cuts `data`, which is equal on every rank, along `options.split`; only that and `comm` are read. A value: it shares
/// memory with `data` until it is written to, and does not change `data`. Local. Throws TypeError for a dtype that
/// heatpp does not have and for sparse tensors.
[[nodiscard]] DNDarray from_tensor(const at::Tensor& data, const LocalOptions& options = {});

}  // namespace heatpp
