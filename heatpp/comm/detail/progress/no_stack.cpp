// This file replaces stack.cpp if GCC's libbacktrace is missing.
#include <heatpp/comm/detail/progress/stack.hpp>

namespace heatpp::detail {
std::string outside_of_library() { return {}; }
}  // namespace heatpp::detail
