#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <heatpp/comm/communicator.hpp>

namespace heatpp::detail {

/// Computes c = a * b, or c += a * b, for matrices of float32 of any strides. Panels of both are copied so that they
/// fit in a core's cache, and multiplied there by oneDNN's kernel for the machine's vectors, which LibTorch contains
/// (LibTorch's own products use MKL, which does not use the widest vectors of other makers' processors). `poll`, if
/// any, is called every few milliseconds. Extra memory: at most 8 MiB, and 1 MiB for each thread. After Goto & van de
/// Geijn, Anatomy of high-performance matrix multiplication, 2008.
void multiply_by_panels(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, bool accumulate,
                        const std::function<void()>& poll = {});

/// Whether `multiply_by_panels` can take these, and they are no thinner than the kernel's tiles.
[[nodiscard]] bool fits_panels(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b);

/// Whether products of this many multiplications in all use panels: if these were faster on rank 0 in a trial, once for
/// all products, or in an earlier program, as the file of HEATPP_CALIBRATION says. Equal on all ranks, because results
/// that all ranks hold must have the same bits. Collective: one broadcast for the first large product on a group of
/// ranks.
[[nodiscard]] bool prefers_panels(const Communicator& comm, double multiplications);

}  // namespace heatpp::detail
