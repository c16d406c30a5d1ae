#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>

namespace heatpp::ml::detail {

/// Warns by the log where the iterations of a fit ended by their number, or where rounding let them get no further,
/// before they converged.
inline void warn_unless(bool converged, const char* op, std::int64_t iterations) {
  if (converged) return;
  log(LogLevel::warning,
      heatpp::detail::formatted("[{}] ended after {} iterations before it converged; expected a larger max_iterations "
                                "or tol, or features of scales nearer to each other",
                                op, iterations));
}

}  // namespace heatpp::ml::detail
