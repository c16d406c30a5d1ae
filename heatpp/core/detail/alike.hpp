#pragma once

#include <heatpp/core/dndarray.hpp>

namespace heatpp::detail {

/// Shape and cut, for messages.
[[nodiscard]] std::string layout_text(const Layout& layout);

/// With HEATPP_DEBUG=collectives, throws CommError on all ranks where the dtype, shape or cut of `x` differs between
/// them. For functions whose messages would not show that. Does nothing otherwise, and for arrays that are not cut.
void expect_alike(const char* op, const DNDarray& x);

}  // namespace heatpp::detail
