// Where GCC's libbacktrace is not there.
#include <heatpp/comm/detail/progress/stack.hpp>

namespace heatpp::detail {
std::string outside_of_library() { return {}; }
}  // namespace heatpp::detail
