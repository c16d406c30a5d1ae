#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/estimator.hpp>

namespace heatpp::ml::detail {

/// What a fit has learnt. Throws NotFittedError before it.
template <class T>
[[nodiscard]] const T& fitted(const char* op, const std::optional<T>& learnt) {
  if (!learnt) throw NotFittedError(heatpp::detail::formatted("[{}] got no data yet; expected a call of fit", op));
  return *learnt;
}

}  // namespace heatpp::ml::detail
