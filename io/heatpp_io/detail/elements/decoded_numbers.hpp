#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_io/detail/elements/decoding.hpp>

namespace heatpp::io::detail {

/// Returns the numbers that stored numbers mean, in the dtype of the decoding. `stored` has the dtype of the stored
/// numbers; uint64 is int64 with the same bits. It is changed in place if no conversion is needed. Throws ValueError
/// naming `op` and `path` for whole numbers that int64 cannot hold.
[[nodiscard]] at::Tensor decoded_numbers(const Decoding& decoding, const at::Tensor& stored, const std::string& path,
                                         const char* op);

}  // namespace heatpp::io::detail
