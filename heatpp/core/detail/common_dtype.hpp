#pragma once

#include <functional>
#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/promotion.hpp>

namespace heatpp::detail {

/// Returns the common dtype of arrays or pointers to arrays; bool, which gives way to any, for none.
template <class Arrays>
[[nodiscard]] Dtype common_dtype(const Arrays& arrays) {
  auto dtype = bool_;
  for (const auto& x : arrays) dtype = promote_types(dtype, std::invoke(&DNDarray::dtype, x));
  return dtype;
}

}  // namespace heatpp::detail
