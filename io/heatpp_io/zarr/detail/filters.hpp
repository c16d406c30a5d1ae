#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_io/detail/elements/numpy_type.hpp>

#include <vector>

namespace heatpp::io::detail {

/// A step that maps the elements of a chunk to other elements: a filter of numcodecs.
struct Filter {
  enum class Kind {
    cast,   ///< change of the type: astype, or a rounding that cannot be undone: quantize, bitround
    delta,  ///< differences of neighboring elements in the order of the chunk
    scaled  ///< (x - offset) * scale, rounded: fixedscaleoffset
  };
  Kind kind = Kind::cast;
  StoredType before = {}, after = {};  ///< types of the elements before and after the filter
  double offset = 0, scale = 1;
  bool rounds = false;  ///< whether it loses information
};

/// Undoes the filters, from the last to the first, on the elements of a chunk: a contiguous tensor in the memory type
/// that the last filter gives. The result has the memory type that the first filter takes.
[[nodiscard]] at::Tensor unfiltered(at::Tensor values, const std::vector<Filter>& filters);

/// Applies filters that do not round.
[[nodiscard]] at::Tensor filtered(at::Tensor values, const std::vector<Filter>& filters);

}  // namespace heatpp::io::detail
