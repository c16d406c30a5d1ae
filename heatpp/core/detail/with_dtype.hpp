#pragma once

#include <heatpp/core/factories.hpp>

namespace heatpp::detail {

/// Returns the options with this dtype, for an array that is converted to the requested one afterwards.
[[nodiscard]] inline ArrayOptions with_dtype(ArrayOptions options, Dtype dtype) {
  options.dtype = dtype;
  return options;
}

}  // namespace heatpp::detail
