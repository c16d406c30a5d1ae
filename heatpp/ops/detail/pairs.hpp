#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

namespace heatpp::detail::local {

/// A block of `type` of what the host makes of every pair of elements of two blocks, which broadcast: `dispatch` is
/// given a loop and calls it with the elements' type and the function.
template <class Dispatch>
at::Tensor map_pairs(const at::Tensor& a, const at::Tensor& b, at::ScalarType type, Dispatch dispatch) {
  const auto pair = at::broadcast_tensors({a.to(at::kCPU, type), b.to(at::kCPU, type)});
  const auto x = pair[0].resolve_conj().contiguous(), y = pair[1].resolve_conj().contiguous();
  auto out = at::empty(x.sizes(), x.options());
  dispatch([&]<class T>(T, auto f) {
    const auto *left = x.const_data_ptr<T>(), *right = y.const_data_ptr<T>();
    auto* result = out.mutable_data_ptr<T>();
    at::parallel_for(0, x.numel(), 4096, [&](std::int64_t begin, std::int64_t end) {
      std::transform(left + begin, left + end, right + begin, result + begin, f);
    });
  });
  return out.to(a.dim() >= b.dim() ? a.device() : b.device());
}

}  // namespace heatpp::detail::local
