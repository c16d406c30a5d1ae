#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>

namespace heatpp::ml::detail {

/// Warns in the log if a fit has not converged: the iterations were used up, or rounding prevented further
/// progress.
inline void warn_unless(bool converged, const char* op, std::int64_t iterations) {
  if (converged) return;
  log(LogLevel::warning,
      heatpp::detail::formatted("[{}] ended after {} iterations before it converged; expected a larger max_iterations "
                                "or tol, or features of scales nearer to each other",
                                op, iterations));
}

}  // namespace heatpp::ml::detail
