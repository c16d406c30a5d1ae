#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/core/factories.hpp>

namespace heatpp {

/// LibTorch's name of a dtype.
[[nodiscard]] at::ScalarType to_torch(Dtype dtype);

/// `data`, which every rank holds alike, as an array cut along `options.split`; only that and `comm` are read. A value:
/// shares memory with `data` until it is written to, and leaves that as it is. Local. Throws TypeError for a dtype that
/// heatpp has not and for sparse tensors.
[[nodiscard]] DNDarray from_tensor(const at::Tensor& data, const LocalOptions& options = {});

}  // namespace heatpp
