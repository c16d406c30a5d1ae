#pragma once

#include <heatpp/ml/estimator.hpp>

#include <fmt/format.h>

namespace heatpp::ml::detail {

/// What a fit has learnt. Throws NotFittedError before it.
template <class T>
[[nodiscard]] const T& fitted(const char* op, const std::optional<T>& learnt) {
  if (!learnt) throw NotFittedError(fmt::format("[{}] got no data yet; expected a call of fit", op));
  return *learnt;
}

}  // namespace heatpp::ml::detail
