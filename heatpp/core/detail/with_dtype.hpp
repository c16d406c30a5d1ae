#pragma once

#include <heatpp/core/factories.hpp>

namespace heatpp::detail {

/// The options of an array of this dtype, which often is made before it gets the one that was asked for.
[[nodiscard]] inline ArrayOptions with_dtype(ArrayOptions options, Dtype dtype) {
  options.dtype = dtype;
  return options;
}

}  // namespace heatpp::detail
