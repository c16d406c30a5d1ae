#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_io/detail/elements/decoding.hpp>

namespace heatpp::io::detail {

/// What stored numbers mean, in the dtype of the decoding. `stored` has the dtype of the stored numbers, uint64 as
/// int64 with the same bits; where no conversion is needed it is changed itself. Throws ValueError naming `op` and
/// `path` for whole numbers that int64 cannot hold.
[[nodiscard]] at::Tensor decoded_numbers(const Decoding& decoding, const at::Tensor& stored, const std::string& path,
                                         const char* op);

}  // namespace heatpp::io::detail
