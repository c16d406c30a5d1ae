#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// c = a * b, or c += a * b, for matrices of float32 of any strides: panels of both are copied to where a core's cache
/// holds them, and multiplied there by oneDNN's kernel for the machine's vectors, which LibTorch has inside (its own
/// products are those of MKL, which does without the widest vectors of other makers' processors). `poll`, if any, is
/// called every few milliseconds. Extra memory: at most 8 MiB, and 1 MiB for each thread.
/// After Goto & van de Geijn, Anatomy of high-performance matrix multiplication, 2008.
void multiply_by_panels(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, bool accumulate,
                        const std::function<void()>& poll = {});

/// Whether `multiply_by_panels` can take these, and they are no thinner than the kernel's tiles.
[[nodiscard]] bool fits_panels(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b);

/// Whether products of so many multiplications in all go by panels: where these were faster on rank 0 when it tried,
/// once for all products, or in an earlier program, of which the file of HEATPP_CALIBRATION tells. The same on all
/// ranks, as what all ranks hold has to have the same bits. Collective: one broadcast for the first product on a group
/// of ranks that is worth it.
[[nodiscard]] bool prefers_panels(const Communicator& comm, double multiplications);

}  // namespace heatpp::detail
