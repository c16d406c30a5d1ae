#pragma once

#include <functional>
#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/promotion.hpp>

namespace heatpp::detail {

/// The dtype in which arrays, or those to which pointers point, meet; bool, which gives way to any, for none.
template <class Arrays>
[[nodiscard]] Dtype common_dtype(const Arrays& arrays) {
  auto dtype = bool_;
  for (const auto& x : arrays) dtype = promote_types(dtype, std::invoke(&DNDarray::dtype, x));
  return dtype;
}

}  // namespace heatpp::detail
