#pragma once

#include <string>

namespace heatpp::detail {

/// Returns the innermost call on this thread's stack that is not in the library, the standard library or LibTorch.
[[nodiscard]] std::string outside_of_library();

}  // namespace heatpp::detail
