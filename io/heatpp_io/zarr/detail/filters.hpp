#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_io/detail/elements/numpy_type.hpp>

#include <vector>

namespace heatpp::io::detail {

/// What makes other elements of the elements of a chunk: filters of numcodecs.
struct Filter {
  enum class Kind {
    cast,   ///< elements of another type: astype, and what rounds before it, which cannot be undone: quantize, bitround
    delta,  ///< differences from one element to the next, as they lie in the chunk
    scaled  ///< (x - offset) * scale, rounded: fixedscaleoffset
  };
  Kind kind = Kind::cast;
  StoredType before = {}, after = {};  ///< of the elements before and after the filter
  double offset = 0, scale = 1;
  bool rounds = false;  ///< whether something is lost
};

/// Undoes the filters, from the last to the first, on the elements of a chunk: a contiguous tensor in the memory type
/// of what the last filter gives. The result has the memory type of what the first one takes.
[[nodiscard]] at::Tensor unfiltered(at::Tensor values, const std::vector<Filter>& filters);

/// Applies filters that do not round.
[[nodiscard]] at::Tensor filtered(at::Tensor values, const std::vector<Filter>& filters);

}  // namespace heatpp::io::detail
