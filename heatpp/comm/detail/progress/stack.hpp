#pragma once

#include <string>

namespace heatpp::detail {

/// The innermost call on this thread's stack that is none of the library's, the standard library's or LibTorch's.
[[nodiscard]] std::string outside_of_library();

}  // namespace heatpp::detail
