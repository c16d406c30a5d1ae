#pragma once

#include <ATen/Dispatch.h>

namespace heatpp::detail {

/// Calls f.operator()<T>() for the C++ type of a dtype.
template <class F>
decltype(auto) with_element_type(at::ScalarType type, F f) {
  return AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(at::kBool, at::kHalf, at::kBFloat16, type, "heatpp",
                                                [&]() -> decltype(auto) { return f.template operator()<scalar_t>(); });
}

}  // namespace heatpp::detail
